import { inTransaction } from '../../drizzle/database'
import type { Services } from '../context'
import { change, select } from '../db'

const LONGEST_DETAIL = 500

export interface WorkerEnd {
  /** Name of the container or process, for an end that came before the worker was on record. */
  name: string
  hostname: string
  /** Absent for a container, which runs one worker at a time. */
  pid?: number | undefined
  /** When it ended, in milliseconds since 1970. What started later in the same place is another worker. */
  at: number
  queue: string
  kind: 'restart' | 'oom'
  /** Why, in words; cut after 500 characters. */
  detail: string
}

/**
 * Records that a worker ended without being told to. One end is one event: the worker counts as lost at once, so that its silence
 * is not counted as well.
 */
export async function recordWorkerEnd(s: Services, end: WorkerEnd): Promise<void> {
  const detail = end.detail.slice(0, LONGEST_DETAIL)
  await inTransaction(s.database.pool, async (connection) => {
    const [worker] = await select<{ id: string }>(
      connection,
      "SELECT id FROM workers WHERE hostname = ? AND (? IS NULL OR pid = ?) AND state IN ('running', 'draining') AND started_at < FROM_UNIXTIME(?) ORDER BY started_at LIMIT 1 FOR UPDATE",
      [end.hostname, end.pid ?? null, end.pid ?? null, end.at / 1000],
    )
    if (worker)
      await change(connection, "UPDATE workers SET state = 'lost', running = 0 WHERE id = ?", [worker.id])
    await change(
      connection,
      'INSERT INTO worker_events (worker_id, queue, kind, detail, at) VALUES (?, ?, ?, ?, UTC_TIMESTAMP(3))',
      [worker?.id ?? end.name, end.queue, end.kind, detail],
    )
  })
  s.log.warn({ worker: end.name, kind: end.kind, detail }, 'A worker ended unasked')
}
