import type { Services } from '../context'
import { change, select } from '../db'
import { oneByOne } from './one-by-one'

const SAMPLE_DAYS = 90
const EVENT_DAYS = 90
const ALERT_DAYS = 90
/** Rows removed by one statement, so that no lock is held long. */
const CHUNK = 5000

/** Clears away what nobody looks at any more. Pages, items and dead letters are never touched. */
export async function retain(s: Services, still: () => boolean): Promise<void> {
  const { pool } = s.database
  const old: [string, number][] = [
    [`DELETE FROM samples WHERE at < UTC_TIMESTAMP(3) - INTERVAL ${SAMPLE_DAYS} DAY LIMIT ${CHUNK}`, CHUNK],
    [
      `DELETE FROM worker_events WHERE at < UTC_TIMESTAMP(3) - INTERVAL ${EVENT_DAYS} DAY LIMIT ${CHUNK}`,
      CHUNK,
    ],
    [
      `DELETE FROM workers WHERE state IN ('stopped', 'lost') AND heartbeat_at < UTC_TIMESTAMP(3) - INTERVAL ${EVENT_DAYS} DAY LIMIT ${CHUNK}`,
      CHUNK,
    ],
    [
      `DELETE FROM alerts WHERE state = 'resolved' AND ended_at < UTC_TIMESTAMP(3) - INTERVAL ${ALERT_DAYS} DAY LIMIT ${CHUNK}`,
      CHUNK,
    ],
    [
      `DELETE FROM alert_deliveries WHERE state IN ('sent', 'dead') AND created_at < UTC_TIMESTAMP(3) - INTERVAL ${ALERT_DAYS} DAY LIMIT ${CHUNK}`,
      CHUNK,
    ],
  ]
  for (const [statement, chunk] of old) {
    while (still() && (await change(pool, statement)).affectedRows === chunk);
  }
  // Runs whose seeds were never written to the end: their writer died.
  const abandoned = await select<{ id: number }>(
    pool,
    "SELECT id FROM runs WHERE state = 'preparing' AND created_at < UTC_TIMESTAMP(3) - INTERVAL 1 DAY",
  )
  for (const { id } of abandoned) {
    while (
      still() &&
      (await change(pool, `DELETE FROM seeds WHERE run_id = ? LIMIT ${CHUNK}`, [id])).affectedRows === CHUNK
    );
    // The run goes last: as long as it is there, what is left of its seeds is found again.
    if (!still()) return
    await change(pool, "DELETE FROM runs WHERE id = ? AND state = 'preparing'", [id])
  }
  // A day after its end a run without dead letters needs nothing in Redis any more.
  const ended = await select<{ id: number; queue: string }>(
    pool,
    "SELECT id, queue FROM runs WHERE state IN ('finished', 'cancelled') AND failed = 0 AND finished_at BETWEEN UTC_TIMESTAMP(3) - INTERVAL 3 DAY AND UTC_TIMESTAMP(3) - INTERVAL 1 DAY",
  )
  await oneByOne(
    s,
    ended,
    still,
    ({ id }) => ({ run: id }),
    async ({ id, queue }) => {
      await s.queue(queue).forget(id)
    },
  )
}
