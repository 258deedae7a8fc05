import { Command, CommanderError } from 'commander'
import packageJson from '../package.json'
import { exitOn } from './arguments'

const bench = async () => (await import('./bench')).benchCommand

/** Loaded when asked for: a mistyped argument should be told at once, not after all libraries of all commands. */
const COMMANDS: Record<string, () => Promise<(program: Command) => void>> = {
  up: async () => (await import('./up')).upCommand,
  crawl: async () => (await import('./crawl')).crawlCommand,
  enqueue: async () => (await import('./enqueue')).enqueueCommand,
  seeds: async () => (await import('./seeds')).seedsCommand,
  'add-spider': async () => (await import('./add-spider')).addSpiderCommand,
  new: async () => (await import('./new-spider')).newCommand,
  sinks: async () => (await import('./sinks')).sinksCommand,
  audit: async () => (await import('./audit')).auditCommand,
  doctor: async () => (await import('./doctor')).doctorCommand,
  'sign-in-link': async () => (await import('./sign-in-link')).signInLinkCommand,
  'api-key': async () => (await import('./api-key')).apiKeyCommand,
  bench,
  url: async () => (await import('./probe-url')).urlCommand,
  robots: async () => (await import('./probe-robots')).robotsCommand,
  sitemap: async () => (await import('./probe-sitemap')).sitemapCommand,
  decode: async () => (await import('./probe-decode')).decodeCommand,
  extract: async () => (await import('./probe-extract')).extractCommand,
  fetch: async () => (await import('./probe-fetch')).fetchCommand,
  build: async () => (await import('./console-build')).buildCommand,
}

const program = new Command('orbweaver')
  .description(packageJson.description)
  .version(packageJson.version)
  // Whatever is wrong with the arguments is said in one sentence below, and the process ends in one place.
  .exitOverride()
  .configureOutput({ outputError: () => {} })

try {
  const [word = ''] = process.argv.slice(2)
  const asked = COMMANDS[word] ?? (word.startsWith('bench-') ? bench : undefined)
  for (const load of asked ? [asked] : Object.values(COMMANDS)) (await load())(program)
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError && error.exitCode === 0) process.exit(0)
  exitOn(error)
}
