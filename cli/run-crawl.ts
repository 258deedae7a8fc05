import { setTimeout as sleep } from 'node:timers/promises'
import type { Spider } from '../core/spider'
import type { Services } from '../server/context'
import { cancelRun, createRun, runStatus } from '../server/services/runs'
import type { Progress } from './progress'

export interface CrawlRequest {
  /** Id of the spider the run belongs to. */
  spider: number
  /** What this run obeys instead of the stored definition. */
  definition?: Spider
  queue: string
  seeds: string[]
  startedBy?: string
  /** Aborted: the run is cancelled, and its summary is that of a cancelled run. */
  signal?: AbortSignal
  /** Aborted: nobody watches any more, and the call rejects with the signal's reason; the run goes on or ends without. */
  leave?: AbortSignal
}

export interface CrawlSummary {
  runId: number
  state: 'finished' | 'cancelled' | 'failed'
  admitted: number
  done: number
  failed: number
  ignored: number
  pending: number
  running: number
  retry: number
  items: number
  seconds: number
  pagesPerSecond: number
  /** Seeds that were refused, with the reason. */
  rejected: { url: string; reason: string }[]
}

const LOOK_EVERY_MS = 250
/** A server that restarts is no reason to give a crawl up; one that stays away this long is. */
const OUTAGE_MS = 60_000

/**
 * Creates a run and watches it until it is over. Somebody else does the work: workers of the queue, and a scheduler,
 * which seeds the run and declares it finished.
 */
export async function runCrawl(
  services: Services,
  request: CrawlRequest,
  onProgress: (progress: Progress) => void,
): Promise<CrawlSummary> {
  const { signal, leave } = request
  const woken = AbortSignal.any([signal, leave].filter((one) => one !== undefined))
  const started = performance.now()
  const seconds = () => (performance.now() - started) / 1000
  const created = await createRun(services, {
    spider: request.spider,
    definition: request.definition,
    queue: request.queue,
    seeds: request.seeds.map((url) => ({ url })),
    trigger: 'cli',
    startedBy: request.startedBy,
  })
  let cancelled = false
  let heardAt = performance.now()
  for (;;) {
    const status = await runStatus(services, created.id).catch((error: unknown) => {
      if (leave?.aborted || performance.now() - heardAt > OUTAGE_MS) throw error
    })
    if (!status) {
      await sleep(LOOK_EVERY_MS)
      continue
    }
    heardAt = performance.now()
    const { run, counts, items } = status
    const open = counts.pending + counts.running + counts.retry
    onProgress({
      done: counts.done,
      failed: counts.failed,
      ignored: counts.ignored,
      open,
      seconds: seconds(),
    })
    if (run.state === 'finished' || run.state === 'cancelled' || run.state === 'failed') {
      const took = seconds()
      const { admitted, done, failed, ignored, pending, running, retry } = counts
      return {
        runId: created.id,
        state: run.state,
        admitted,
        done,
        failed,
        ignored,
        pending,
        running,
        retry,
        items,
        seconds: Number(took.toFixed(2)),
        pagesPerSecond: Number(((done + failed + ignored) / took).toFixed(2)),
        rejected: created.rejected,
      }
    }
    if (signal?.aborted && !cancelled) {
      cancelled = true
      await cancelRun(services, created.id, request.startedBy ?? 'cli')
    }
    leave?.throwIfAborted()
    await sleep(LOOK_EVERY_MS, undefined, { signal: cancelled ? leave : woken }).catch(() => {})
  }
}

/** The end of a crawl in a few lines for people. */
export function summaryText(summary: CrawlSummary): string {
  const { runId, state, done, failed, ignored, items, seconds, pagesPerSecond } = summary
  return [
    `Run ${runId} ${state} after ${seconds.toFixed(1)} s (${pagesPerSecond.toFixed(1)} pages/s).`,
    `  done     ${done}`,
    `  failed   ${failed}`,
    `  ignored  ${ignored}`,
    `  items    ${items}`,
  ].join('\n')
}
