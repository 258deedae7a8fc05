import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { DEFAULT_SPIDER, type Spider } from '../core/spider'
import type { Services } from '../server/context'
import { startScheduler } from '../server/scheduler/scheduler'
import { dropQueue } from '../server/services/drop-queue'
import { pageRows } from '../server/services/export-pages'
import { ensureQueue } from '../server/services/queues'
import { ensureDefaultSpider, listSpiders, saveSpider } from '../server/services/spiders'
import { REASONS } from '../worker/outcome'
import type { CrawlOptions } from './crawl'
import { onInterrupt } from './interrupt'
import { showProgress } from './progress'
import { type CrawlSummary, runCrawl, summaryText } from './run-crawl'
import { stateFolder } from './stack/state'
import { withServices } from './with-services'
import { startWorkers } from './worker-pool'
import { writePages } from './write-pages'

/** Somebody waits for the end of this crawl: a worker that was killed is back soon, however often it happens. */
const LONGEST_RESTART_MS = 2_000

/** Exit code of a process that Ctrl-C ended. */
const INTERRUPTED = 130

interface Crawl {
  /** The spider as it stands in the file. */
  stored: Spider
  /** The same as this run obeys it. */
  spider: Spider
  seeds: string[]
  options: CrawlOptions
}

/**
 * One run from seeds to output file, on a queue of its own that nobody else takes from, with a scheduler in this process.
 * @returns the exit code.
 */
export async function crawlAlone(crawl: Crawl): Promise<number> {
  const { signal } = onInterrupt()
  try {
    return await withServices('crawl', (services) => crawlWith(services, crawl, signal))
  } catch (error) {
    // What Ctrl-C cuts short may fail in any way; that is no fault.
    if (!signal.aborted) throw error
    return INTERRUPTED
  }
}

async function crawlWith(
  services: Services,
  { stored, spider, seeds, options }: Crawl,
  signal: AbortSignal,
): Promise<number> {
  signal.throwIfAborted()
  const queue = `crawl_${randomBytes(4).toString('hex')}`
  const { concurrency, delay, workers: count } = options
  await ensureQueue(services, queue, {
    ...(delay === undefined ? {} : { delayMs: Math.round(delay * 1000) }),
    // One site is the usual case: what is asked for must not be cut down by the limit of a host.
    ...(concurrency === undefined ? {} : { concurrency, perHost: Math.min(1000, concurrency * count) }),
  })
  const scheduler = await startScheduler(services)
  const workers = startWorkers({ count, queue, stateDir: stateFolder(), longestMs: LONGEST_RESTART_MS })
  const progress = showProgress()
  // Without workers the run would stay open for ever: it is cancelled as by Ctrl-C, and the reason told.
  const failed = new AbortController()
  workers.broken.catch((error: unknown) => failed.abort(error))
  try {
    const request = {
      spider: await spiderId(services, stored),
      definition: spider,
      queue,
      seeds,
      startedBy: 'cli',
      signal: AbortSignal.any([signal, failed.signal]),
    }
    const summary = await runCrawl(services, request, progress.update)
    progress.end()
    failed.signal.throwIfAborted()
    if (options.out) await writePages(options.out, pageRows(services, summary.runId))
    return await report(services, summary, options, signal.aborted)
  } finally {
    progress.end()
    await workers.stop()
    await scheduler.stop()
    await dropQueue(services, queue)
  }
}

/** A spider of that name that is stored already stays as it is, because schedules may rely on it; the run has its own copy. */
async function spiderId(services: Services, spider: Spider): Promise<number> {
  if (spider === DEFAULT_SPIDER) return (await ensureDefaultSpider(services)).id
  const known = (await listSpiders(services)).find(({ name }) => name === spider.name)
  return (known ?? (await saveSpider(services, spider, 'cli'))).id
}

/** Prints the summary and decides the exit code. */
async function report(
  services: Services,
  summary: CrawlSummary,
  options: CrawlOptions,
  interrupted: boolean,
): Promise<number> {
  const { runId, admitted, done, failed, ignored, pending, running, retry, items, seconds, pagesPerSecond } =
    summary
  process.stderr.write(`${summaryText(summary)}\n`)
  if (options.out) process.stderr.write(`  pages in ${options.out}\n`)
  if (options.json) {
    const figures = {
      runId,
      admitted,
      done,
      failed,
      ignored,
      pending,
      running,
      retry,
      items,
      seconds,
      pagesPerSecond,
    }
    process.stdout.write(`${JSON.stringify(figures)}\n`)
  }
  if (interrupted) return INTERRUPTED
  if (summary.state !== 'finished' || done === 0) {
    process.stderr.write(`${await whyNothing(services, summary)}\n`)
    return 1
  }
  return 0
}

/** The sentence for a crawl without a single page. */
async function whyNothing(services: Services, summary: CrawlSummary): Promise<string> {
  if (summary.state !== 'finished')
    return `The run ended as ${summary.state}; its log is in ${join(stateFolder(), 'logs')}.`
  for await (const { url, reason } of pageRows(services, summary.runId)) {
    if (reason === 'private_address')
      return `No page could be fetched: ${url} is at a private address; add --allow-private if you mean it.`
    const words =
      reason && reason in REASONS
        ? REASONS[reason as keyof typeof REASONS].words
        : 'Open it in a browser to see.'
    return `No page could be fetched: ${url} ended with ${reason}. ${words}`
  }
  return 'No page could be fetched, because no start URL was admitted; give another URL.'
}
