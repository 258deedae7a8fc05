import { env } from '../../core/env'
import { inTransaction } from '../../drizzle/database'
import type { Services } from '../context'
import { change, select } from '../db'
import { ensureQueue, type QueueRow } from '../services/queues'

/** Silent for longer than this, in seconds, a worker counts as lost. Its pages do not wait for that: their leases lapse by themselves. */
const silentSeconds = () => Math.max(20, 4 * env().HEARTBEAT_SECONDS)

/**
 * Marks workers that went silent as lost, each loss one event. A worker that speaks again counts as running again. A queue that
 * workers serve before anybody asked for it is made: it needs settings, an epoch, and a place in the console.
 */
export async function watchWorkers(s: Services): Promise<void> {
  await markLost(s)
  const unknown = await select<Pick<QueueRow, 'kind'> & { queue: string }>(
    s.database.pool,
    "SELECT queue, MIN(kind) AS kind FROM workers WHERE state = 'running' AND queue NOT IN (SELECT name FROM queues) GROUP BY queue",
  )
  for (const { queue, kind } of unknown) await ensureQueue(s, queue, {}, kind)
}

async function markLost(s: Services): Promise<void> {
  const lost = await inTransaction(s.database.pool, async (connection) => {
    const silent = await select<{ id: string; queue: string }>(
      connection,
      "SELECT id, queue FROM workers WHERE state IN ('running', 'draining') AND heartbeat_at < UTC_TIMESTAMP(3) - INTERVAL ? SECOND FOR UPDATE",
      [silentSeconds()],
    )
    for (const worker of silent) {
      await change(connection, "UPDATE workers SET state = 'lost', running = 0 WHERE id = ?", [worker.id])
      await change(
        connection,
        "INSERT INTO worker_events (worker_id, queue, kind, detail, at) VALUES (?, ?, 'lost', 'no heartbeat', UTC_TIMESTAMP(3))",
        [worker.id, worker.queue],
      )
    }
    return silent
  })
  for (const worker of lost) s.log.warn({ worker: worker.id, queue: worker.queue }, 'a worker went silent')
}
