import { and, count, eq, gte, inArray, min } from 'drizzle-orm'
import { queues } from '../../drizzle/schema/crawl'
import { samples, workerEvents, workers } from '../../drizzle/schema/fleet'
import type { Services } from '../context'

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
  names: string[]
  /** Outcome totals of each queue an hour ago; a queue that has no sample of that time is absent. */
  baseline: Map<string, { done: number; failed: number }>
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
      slow.names.map(async (name) => ({ name, ...(await this.services.queue(name).lengths()) })),
    )
    const sum = (pick: (one: (typeof lengths)[number]) => number) =>
      lengths.reduce((all, one) => all + pick(one), 0)
    const total = sum((one) => one.totals.done + one.totals.failed + one.totals.ignored)
    const lastHour = { done: 0, failed: 0 }
    for (const { name, totals } of lengths) {
      const before = slow.baseline.get(name)
      lastHour.done += Math.max(0, totals.done - (before?.done ?? totals.done))
      lastHour.failed += Math.max(0, totals.failed - (before?.failed ?? totals.failed))
    }
    const ended = lastHour.done + lastHour.failed
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
      successRate: ended > 0 ? lastHour.done / ended : null,
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
  const { orm } = services.database
  const hourAgo = new Date(at - HOUR_MS)
  const [names, oldest, alive, events] = await Promise.all([
    orm.select({ name: queues.name, createdAt: queues.createdAt }).from(queues).orderBy(queues.name),
    orm
      .select({ queue: samples.queue, at: min(samples.at) })
      .from(samples)
      .where(gte(samples.at, hourAgo))
      .groupBy(samples.queue),
    orm
      .select({ n: count() })
      .from(workers)
      .where(
        and(inArray(workers.state, ['running', 'draining']), gte(workers.heartbeatAt, new Date(at - 30_000))),
      ),
    orm
      .select({ kind: workerEvents.kind, n: count() })
      .from(workerEvents)
      .where(
        and(
          gte(workerEvents.at, new Date(at - 24 * HOUR_MS)),
          inArray(workerEvents.kind, ['restart', 'lost', 'oom']),
        ),
      )
      .groupBy(workerEvents.kind),
  ])
  const restarts = Object.fromEntries(events.map((one) => [one.kind, one.n]))
  return {
    names: names.map((one) => one.name),
    baseline: await baselineOf(services, names, oldest, hourAgo),
    workers: alive[0]?.n ?? 0,
    restarts: (restarts.restart ?? 0) + (restarts.lost ?? 0) + (restarts.oom ?? 0),
    outOfMemory: restarts.oom ?? 0,
  }
}

/** A queue younger than an hour began at 0; of the others the oldest sample of the hour counts. */
async function baselineOf(
  services: Services,
  names: { name: string; createdAt: Date }[],
  oldest: { queue: string; at: Date | null }[],
  hourAgo: Date,
): Promise<SlowFacts['baseline']> {
  const baseline: SlowFacts['baseline'] = new Map()
  for (const { name, createdAt } of names) {
    const at = oldest.find((one) => one.queue === name)?.at
    if (createdAt >= hourAgo) baseline.set(name, { done: 0, failed: 0 })
    else if (at) {
      const [row] = await services.database.orm
        .select({ done: samples.doneTotal, failed: samples.failedTotal })
        .from(samples)
        .where(and(eq(samples.queue, name), eq(samples.at, at)))
      if (row) baseline.set(name, row)
    }
  }
  return baseline
}
