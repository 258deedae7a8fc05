import { join } from 'node:path'
import type { Command } from 'commander'
import { env, setEnv } from '../core/env'
import { sentence, UnsafeError, UserError } from '../core/errors'
import { type DemoServer, serveDemoSite } from '../examples/demo-site/serve'
import { consoleUrl } from '../server/console-url'
import { openServices, type Services } from '../server/context'
import { listRuns } from '../server/services/runs'
import { createSignInLink, needsSignInLink } from '../server/sign-in-link'
import { numberIn } from './arguments'
import { buildConsole } from './console-build'
import { consoleIsOurs } from './doctor-checks'
import { askedCrawl, type Crawl, crawlNow, demoCrawl } from './first-crawl'
import { type Interrupt, onInterrupt } from './interrupt'
import { summaryText } from './run-crawl'
import { portIsFree } from './stack/ports'
import { openStack } from './stack/stack'
import { stateFolder } from './stack/state'
import { startProcesses } from './up-processes'
import { migrateReachable } from './with-services'

interface UpOptions {
  spider?: string
  allowPrivate?: boolean
  demo: boolean
  port?: number
  workers?: number
}

/** What was started, for the way back. */
interface Part {
  /** As in `Stopping …`. */
  name: string
  stop(): Promise<unknown>
}

/** Kept back from the time that stopping may take, in milliseconds, for the words after it. */
const SPARE_MS = 500

/** The demo site keeps its address from start to start when this port and the next are free. */
const DEMO_PORT = 3080

/** `orbweaver up`: everything on this machine, until Ctrl-C. */
export function upCommand(program: Command): void {
  program
    .command('up')
    .description('start everything on this machine, crawl the demo site or URL, and stay up until Ctrl-C')
    .argument('[url]', 'crawl this instead of the demo site')
    .option('--spider <file>', 'spider file (JSON) for the URL')
    .option('--allow-private', 'fetch private and loopback addresses too')
    .option('--no-demo', 'neither serve nor crawl the demo site')
    .option('--port <n>', 'port of the console', numberIn('--port', 1, 65_535))
    .option('--workers <n>', 'worker processes', numberIn('--workers', 0, 64))
    .action(async (url: string | undefined, options: UpOptions) => {
      if (options.spider && !url)
        throw new UserError('--spider says how to crawl a URL, and none is given; add one.')
      const asked = url ? await askedCrawl(url, options) : undefined
      await up(asked, options)
    })
}

const say = (message: string) => void process.stderr.write(`${message}\n`)

async function up(asked: Crawl | undefined, options: UpOptions): Promise<void> {
  if (options.port !== undefined) setEnv({ HTTP_PORT: String(options.port) })
  await requirePort()
  const interrupt = onInterrupt()
  const parts: Part[] = []
  try {
    await start(asked, options, interrupt, parts)
  } catch (error) {
    // What Ctrl-C cut short may fail in any way; that is no fault.
    if (!interrupt.signal.aborted) throw error
  } finally {
    const said = parts.length > 0 || interrupt.signal.aborted
    if (said) say('Stopping …')
    interrupt.hurry()
    for (const part of parts.reverse()) await stopPart(part)
    if (said) say('Stopped.')
  }
}

/** Ends one part, saying so where it takes longer than a second. */
async function stopPart({ name, stop }: Part): Promise<void> {
  const told = setTimeout(() => say(`Stopping ${name} …`), 1_000)
  await stop().catch((error: unknown) => say(`Not everything could be stopped: ${sentence(error)}`))
  clearTimeout(told)
}

/** Starts the parts in order, noting each in `parts` for the way back, then stays up. */
async function start(
  asked: Crawl | undefined,
  options: UpOptions,
  interrupt: Interrupt,
  parts: Part[],
): Promise<void> {
  const { signal } = interrupt
  const stateDir = stateFolder()
  const stack = await openStack({ stateDir, say })
  parts.push({ name: 'the servers', stop: () => stack.stop(Math.max(0, interrupt.leftMs() - SPARE_MS)) })
  signal.throwIfAborted()
  setEnv({
    REDIS_URL: stack.redisUrl,
    DATABASE_URL: stack.databaseUrl,
    AUTH_SECRET: stack.authSecret,
    STATE_DIR: stateDir,
  })
  await migrateReachable(stack.databaseUrl)
  const services = await quietServices()
  parts.push({ name: 'connections', stop: services.close })
  signal.throwIfAborted()
  await buildConsole(say)
  signal.throwIfAborted()
  const workers = options.workers ?? env().WORKERS
  say(`Starting console, scheduler and ${workers} workers …`)
  const logFolder = join(stateDir, 'logs')
  const processes = await startProcesses(services, { workers, logFolder, say })
  parts.push({ name: 'console, scheduler and workers', stop: processes.stop })
  signal.throwIfAborted()
  const demo = options.demo ? await demoSite() : undefined
  if (demo) parts.push({ name: 'the demo site', stop: demo.close })
  await greet(services, stack.started)

  const wanted = asked ?? (demo && (await isFirst(services)) ? await demoCrawl(demo.url) : undefined)
  const crawled = wanted ? crawlAndTell(services, wanted, workers, stateDir, signal) : tellLastRun(services)
  // After Ctrl-C its requests meet closed connections.
  crawled.catch(() => {})
  await Promise.race([crawled, stack.broken, interrupt.wanted])
  if (!signal.aborted) say('Everything is up; Ctrl-C stops it.')
  await Promise.race([stack.broken, interrupt.wanted])
}

/** @throws UnsafeError when the console's port is taken, saying by whom where that can be told. */
async function requirePort(): Promise<void> {
  const { HTTP_PORT, HTTP_HOST } = env()
  if (await portIsFree(HTTP_PORT, HTTP_HOST)) return
  const ours = await consoleIsOurs()
  throw new UnsafeError(
    ours
      ? `Orbweaver is up already at ${consoleUrl()}; open that, stop it first, or choose another port: npm start -- --port ${HTTP_PORT + 1}.`
      : `Port ${HTTP_PORT} is in use by another program; end that, or choose another port: npm start -- --port ${HTTP_PORT + 1}.`,
  )
}

/** The services of this process, whose log would tear the progress bar apart; the others keep their level. */
async function quietServices(): Promise<Services> {
  const { LOG_LEVEL } = env()
  setEnv({ LOG_LEVEL: 'silent' })
  try {
    return await openServices('up')
  } finally {
    setEnv({ LOG_LEVEL })
  }
}

async function demoSite(): Promise<DemoServer> {
  return serveDemoSite({ port: DEMO_PORT }).catch(() => serveDemoSite())
}

async function greet(services: Services, embedded: boolean): Promise<void> {
  if (await needsSignInLink(services))
    say(
      `\nOpen the console with this link (it works once, within 24 hours):\n  ${await createSignInLink(services)}\n`,
    )
  else say(`\nThe console is at ${consoleUrl()}\n`)
  if (embedded)
    say(`The addresses of its Redis and database, with passwords: ${join(stateFolder(), 'env')}\n`)
}

const isFirst = async (services: Services) => (await listRuns(services, { limit: 1 })).length === 0

async function crawlAndTell(
  services: Services,
  crawl: Crawl,
  workers: number,
  stateDir: string,
  signal: AbortSignal,
): Promise<void> {
  say(`Crawling ${crawl.seeds.join(', ')} with the spider ${crawl.spider.name} …`)
  const summary = await crawlNow(services, crawl, { workers: Math.max(1, workers), stateDir, signal })
  say(summaryText(summary))
  for (const { url, reason } of summary.rejected) say(`  not crawled: ${url} (${reason})`)
  say(`  look at  ${consoleUrl()}/runs/${summary.runId}\n`)
}

async function tellLastRun(services: Services): Promise<void> {
  const [run] = await listRuns(services, { limit: 1 })
  if (run)
    say(
      `The newest run is ${run.id} (${run.spider}, ${run.state}): ${run.done} done, ${run.failed} failed, ${run.ignored} ignored, ${run.items} items.\n  look at  ${consoleUrl()}/runs/${run.id}\n  To crawl something: npm start -- URL, or npm run crawl -- URL\n`,
    )
}
