import { and, asc, eq, gte, sql } from 'drizzle-orm'
import type { AnyMySqlColumn } from 'drizzle-orm/mysql-core'
import { samples } from '../../drizzle/schema/fleet'
import type { Services } from '../context'

export const RANGES = ['1h', '24h', '30d'] as const
export type Range = (typeof RANGES)[number]

/** Length of each range and of one point in it, in seconds: a chart of 60 to 360 points, whatever the range. */
const SPAN: Record<Range, { range: number; point: number }> = {
  '1h': { range: 3_600, point: 60 },
  '24h': { range: 86_400, point: 300 },
  '30d': { range: 2_592_000, point: 7_200 },
}

export interface HistoryPoint {
  /** Begin of the point, ms since 1970. */
  at: number
  /** Mean of URLs that wait: inbox, pending and retry. */
  backlog: number
  running: number
  /** Pages that ended, per second; null where the point before is missing. */
  pagesPerSecond: number | null
  /** Done ÷ (done + failed), 0–1; null where nothing ended. */
  successRate: number | null
  /** Workers that started again or were lost. */
  restarts: number
}

/** The samples of a range, summed over queues, oldest first. */
export async function readHistory(services: Services, range: Range, queue?: string): Promise<HistoryPoint[]> {
  const { range: seconds, point } = SPAN[range]
  const bucket = sql<number>`floor(unix_timestamp(${samples.at}) / ${point})`.mapWith(Number)
  const mean = (column: AnyMySqlColumn) => sql<number>`avg(${column})`.mapWith(Number)
  // Totals only grow, so the greatest of a bucket is its last.
  const rows = await services.database.orm
    .select({
      queue: samples.queue,
      bucket,
      inbox: mean(samples.inbox),
      pending: mean(samples.pending),
      retry: mean(samples.retry),
      running: mean(samples.running),
      restarts: sql<number>`sum(${samples.restarts})`.mapWith(Number),
      done: sql<number>`max(${samples.doneTotal})`.mapWith(Number),
      failed: sql<number>`max(${samples.failedTotal})`.mapWith(Number),
      total:
        sql<number>`max(${samples.doneTotal} + ${samples.failedTotal} + ${samples.ignoredTotal})`.mapWith(
          Number,
        ),
    })
    .from(samples)
    .where(
      and(
        gte(samples.at, new Date(Date.now() - (seconds + point) * 1000)),
        queue === undefined ? undefined : eq(samples.queue, queue),
      ),
    )
    .groupBy(samples.queue, sql`2`)
    .orderBy(asc(samples.queue), sql`2`)

  const points = new Map<number, HistoryPoint>()
  const ends = new Map<number, { done: number; failed: number }>()
  for (const [index, row] of rows.entries()) {
    const at = row.bucket * point * 1000
    const sum = points.get(at) ?? {
      at,
      backlog: 0,
      running: 0,
      pagesPerSecond: null,
      successRate: null,
      restarts: 0,
    }
    points.set(at, sum)
    sum.backlog += row.inbox + row.pending + row.retry
    sum.running += row.running
    sum.restarts += row.restarts
    const before = rows[index - 1]
    if (before?.queue === row.queue && before.bucket === row.bucket - 1) {
      sum.pagesPerSecond = (sum.pagesPerSecond ?? 0) + Math.max(0, row.total - before.total) / point
      const ended = ends.get(at) ?? { done: 0, failed: 0 }
      ends.set(at, ended)
      ended.done += Math.max(0, row.done - before.done)
      ended.failed += Math.max(0, row.failed - before.failed)
      if (ended.done + ended.failed > 0) sum.successRate = ended.done / (ended.done + ended.failed)
    }
  }
  return [...points.values()].sort((a, b) => a.at - b.at)
}
