import { and, count, gte, inArray } from 'drizzle-orm'
import { workers } from '../../drizzle/schema/fleet'
import type { Services } from '../context'
import { type Baseline, countRestarts, outcomesSince, readBaseline } from '../services/figures'

export interface QueueNow {
  name: string
  inbox: number
  pending: number
  running: number
  retry: number
  /** Dead letters. */
  failed: number
  paused: boolean
  draining: boolean
}

/** The state of everything at one instant: what the overview page shows. */
export interface Overview {
  /** When it was read, ms since 1970. */
  at: number
  queues: QueueNow[]
  /** URLs that wait: inboxes, pending and retry of all queues. */
  backlog: number
  running: number
  /** Pages that ended, per second, over the last ten; null until two looks are there to compare. */
  pagesPerSecond: number | null
  /** Done ÷ (done + failed) of the last hour, 0–1; null when nothing ended. */
  successRate: number | null
  /** Outcomes of the last hour, beside the rate. */
  lastHour: { done: number; failed: number }
  /** Workers that were heard of within the last 30 s. */
  workers: number
  /** Worker restarts of the last 24 h, and those of them for lack of memory. */
  restarts: number
  outOfMemory: number
}

interface SlowFacts {
  baseline: Baseline
  workers: number
  restarts: number
  outOfMemory: number
}

const HOUR_MS = 3_600_000
/** The database is asked this often; Redis on every look. */
const SLOW_EVERY_MS = 5_000
/** Pages per second are taken over this long: short enough to be live, long enough not to flicker. */
const RATE_OVER_MS = 10_000

/** Reads the overview; remembers what the next reading compares with, so one instance serves one process. */
export class OverviewReader {
  private slow: SlowFacts | undefined
  private slowAt = 0
  private ends: { at: number; total: number }[] = []

  constructor(private readonly services: Services) {}

  async read(): Promise<Overview> {
    const at = Date.now()
    if (!this.slow || at - this.slowAt >= SLOW_EVERY_MS) {
      this.slow = await readSlowFacts(this.services, at)
      this.slowAt = at
    }
    const slow = this.slow
    const lengths = await Promise.all(
      slow.baseline.names.map(async (name) => ({ name, ...(await this.services.queue(name).lengths()) })),
    )
    const sum = (pick: (one: (typeof lengths)[number]) => number) =>
      lengths.reduce((all, one) => all + pick(one), 0)
    const total = sum((one) => one.totals.done + one.totals.failed + one.totals.ignored)
    const { successRate, ...lastHour } = outcomesSince(slow.baseline, lengths)
    return {
      at,
      queues: lengths.map(({ name, inbox, pending, running, retry, failed, paused, draining }) => ({
        name,
        inbox,
        pending,
        running,
        retry,
        failed,
        paused,
        draining,
      })),
      backlog: sum((one) => one.inbox + one.pending + one.retry),
      running: sum((one) => one.running),
      pagesPerSecond: this.rate(at, total),
      successRate,
      lastHour,
      workers: slow.workers,
      restarts: slow.restarts,
      outOfMemory: slow.outOfMemory,
    }
  }

  private rate(at: number, total: number): number | null {
    this.ends = this.ends.filter((one) => at - one.at <= RATE_OVER_MS && one.total <= total)
    this.ends.push({ at, total })
    const first = this.ends[0]!
    return at > first.at ? ((total - first.total) / (at - first.at)) * 1000 : null
  }
}

async function readSlowFacts(services: Services, at: number): Promise<SlowFacts> {
  const [baseline, alive, restarts] = await Promise.all([
    readBaseline(services, at, HOUR_MS),
    services.database.orm
      .select({ n: count() })
      .from(workers)
      .where(
        and(inArray(workers.state, ['running', 'draining']), gte(workers.heartbeatAt, new Date(at - 30_000))),
      ),
    countRestarts(services, new Date(at - 24 * HOUR_MS)),
  ])
  return { baseline, workers: alive[0]?.n ?? 0, ...restarts }
}
