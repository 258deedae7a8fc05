import { env } from '../core/env'
import { DEFAULT_SPIDER, type Spider } from '../core/spider'
import type { Services } from '../server/context'
import { ensureQueue } from '../server/services/queues'
import { ensureDefaultSpider, saveSpider } from '../server/services/spiders'
import { checkSeed, readSpider } from './crawl-input'
import { packageFile } from './package-file'
import { showProgress } from './progress'
import { type CrawlSummary, runCrawl } from './run-crawl'
import { startWorkers } from './worker-pool'

/** The demo site is on this machine and made for it, so its queue needs no politeness. */
const DEMO_QUEUE = { name: 'demo', delayMs: 0, perHost: 8 }

export interface Crawl {
  /** As it is stored. */
  spider: Spider
  /** Leave for this run alone: what is stored must not let later runs fetch private addresses. */
  allowPrivate: boolean
  seeds: string[]
  queue: string
}

/** What `up URL --spider FILE` asks for. @throws UserError naming what is wrong with the address or the file. */
export async function askedCrawl(
  url: string,
  { spider: file, allowPrivate = false }: { spider?: string; allowPrivate?: boolean },
): Promise<Crawl> {
  const spider = file ? await readSpider(file) : DEFAULT_SPIDER
  const leave = allowPrivate || spider.allowPrivate || env().ALLOW_PRIVATE
  return { spider, allowPrivate: leave, seeds: [checkSeed(url, leave)], queue: env().QUEUE_KEY }
}

/** The crawl of the demo site at `url` with the example spider. */
export async function demoCrawl(url: string): Promise<Crawl> {
  const spider = await readSpider(packageFile('examples/demo.json'))
  return { spider, allowPrivate: true, seeds: [url], queue: DEMO_QUEUE.name }
}

/** Runs a crawl to its end with a progress bar. The demo's queue gets workers of its own for that time. */
export async function crawlNow(
  services: Services,
  crawl: Crawl,
  options: { workers: number; stateDir: string; signal: AbortSignal },
): Promise<CrawlSummary> {
  const isDemo = crawl.queue === DEMO_QUEUE.name
  const { delayMs, perHost } = DEMO_QUEUE
  await ensureQueue(services, crawl.queue, isDemo ? { delayMs, perHost } : {})
  const { spider, allowPrivate, seeds, queue } = crawl
  const { id } =
    spider.name === DEFAULT_SPIDER.name
      ? await ensureDefaultSpider(services)
      : await saveSpider(services, spider, 'start')
  const pool = isDemo
    ? startWorkers({
        count: options.workers,
        queue: crawl.queue,
        stateDir: options.stateDir,
        env: { DRAIN_SECONDS: '5' },
      })
    : undefined
  const progress = showProgress()
  const request = {
    seeds,
    queue,
    spider: id,
    definition: { ...spider, allowPrivate },
    startedBy: 'start',
    // The demo is over with its site; another crawl goes on at the next start.
    signal: isDemo ? options.signal : undefined,
    leave: options.signal,
  }
  try {
    const running = runCrawl(services, request, progress.update)
    return await (pool ? Promise.race([running, pool.broken]) : running)
  } finally {
    progress.end()
    await pool?.stop()
  }
}
