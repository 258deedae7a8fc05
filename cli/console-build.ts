import { cp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import { childEnv } from '../core/env'
import { UnsafeError } from '../core/errors'
import { fingerprint } from './build.mjs'
import { packageFile } from './package-file'
import { run, tail } from './stack/command'
import { lockFolder } from './stack/lock.mjs'

/** What the console is built from. */
const SOURCES = [
  'app',
  'server',
  'core',
  'drizzle',
  'messages',
  'public',
  'next.config.ts',
  'proxy.ts',
  'instrumentation.ts',
  'package-lock.json',
]

/** Program of the built console, relative to the project. */
export const CONSOLE_PROGRAM = '.next/standalone/server.js'

/** `orbweaver build`: the console; `cli/start.mjs` has built the rest by then. */
export function buildCommand(program: Command): void {
  program
    .command('build')
    .description('build everything for production, where sources changed')
    .action(() => buildConsole((message) => process.stderr.write(`${message}\n`)))
}

/**
 * Builds the console when its sources changed since the last build. @throws UnsafeError with the end of what the build
 * printed.
 */
export async function buildConsole(say: (message: string) => void): Promise<void> {
  const root = packageFile('')
  const stamp = join(root, '.next/.sources')
  const unlock = await lockFolder(`${root}#console`, () => say('Waiting for another build of the console …'))
  const began = Date.now()
  const elapsed = () => `${Math.round((Date.now() - began) / 1000)} s`
  const timer = setInterval(() => say(`Building the console: ${elapsed()} so far …`), 10_000)
  try {
    const now = await fingerprint(root, SOURCES)
    if ((await readFile(stamp, 'utf8').catch(() => '')) === now) return
    say('Building the console (next build; only after a change) …')
    // Without its stamp an interrupted build is not taken for a whole one.
    await rm(stamp, { force: true })
    const result = await run(process.execPath, [packageFile('node_modules/next/dist/bin/next'), 'build'], {
      cwd: root,
      env: childEnv({ NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1', CI: '1' }),
    })
    if (result.code !== 0) throw new UnsafeError(buildFault(result.output))
    for (const [from, to] of [
      ['.next/static', '.next/standalone/.next/static'],
      ['public', '.next/standalone/public'],
    ] as const)
      if (await stat(join(root, from)).catch(() => undefined))
        await cp(join(root, from), join(root, to), { recursive: true, force: true })
    await writeFile(stamp, now)
    say(`Built the console in ${elapsed()}.`)
  } finally {
    clearInterval(timer)
    await unlock()
  }
}

function buildFault(output: string): string {
  return /ENOSPC|No space left/i.test(output)
    ? 'The console could not be built, because the disk is full; free some space and start again.'
    : `The console could not be built; mend what its build says, or remove .next/ and start again:\n${tail(output, 20)}`
}
