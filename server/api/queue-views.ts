import { and, count, eq, gte } from 'drizzle-orm'
import type { ProxyRotation } from '../../core/proxy-address'
import type { QuietHours } from '../../core/quiet-hours'
import { workers } from '../../drizzle/schema/fleet'
import type { Services } from '../context'
import { listQueues, type QueueRow } from '../services/queues'

/** A queue's settings as the console shows them; its lengths come live. */
export interface QueueView {
  name: string
  kind: QueueRow['kind']
  delayMs: number
  perHost: number
  concurrency: number
  maxRunning: number | null
  paused: boolean
  draining: boolean
  /** The sink that it is paused for. */
  heldBy: string | null
  adaptive: boolean
  quiet: QuietHours | null
  proxies: ProxyRotation
  addressDelayMs: number | null
  /** ms since 1970. */
  updatedAt: number
  /** Workers that were heard of within the last 30 s. */
  workers: number
}

export async function viewQueues(services: Services): Promise<QueueView[]> {
  const [rows, alive] = await Promise.all([
    listQueues(services),
    services.database.orm
      .select({ queue: workers.queue, n: count() })
      .from(workers)
      .where(and(eq(workers.state, 'running'), gte(workers.heartbeatAt, new Date(Date.now() - 30_000))))
      .groupBy(workers.queue),
  ])
  return rows.map(({ createdAt: _, version: __, updatedAt, ...row }) => ({
    ...row,
    updatedAt: updatedAt.getTime(),
    workers: alive.find((one) => one.queue === row.name)?.n ?? 0,
  }))
}
