import type { Services } from '../context'
import { change, select } from '../db'
import { listQueues } from '../services/queues'
import { oneByOne } from './one-by-one'

const MINUTE_MS = 60_000

/** Writes one line a queue and minute for the charts. The key is the minute, so that two schedulers write one line. */
export async function sample(s: Services, still: () => boolean): Promise<void> {
  const at = new Date(Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS)
  await oneByOne(
    s,
    await listQueues(s),
    still,
    ({ name }) => ({ queue: name }),
    ({ name }) => sampleQueue(s, name, at),
  )
}

async function sampleQueue(s: Services, name: string, at: Date): Promise<void> {
  const { inbox, pending, running, retry, failed, totals } = await s.queue(name).lengths()
  const [fleet] = await select<{ workers: number; restarts: number }>(
    s.database.pool,
    `SELECT (SELECT COUNT(*) FROM workers WHERE queue = ? AND state IN ('running', 'draining')) AS workers,
              (SELECT COUNT(*) FROM worker_events WHERE queue = ? AND kind IN ('restart', 'lost', 'oom') AND at >= ? AND at < ?) AS restarts`,
    [name, name, new Date(at.getTime() - MINUTE_MS), at],
  )
  await change(
    s.database.pool,
    `INSERT INTO samples (queue, at, inbox, pending, running, retry, dead, done_total, failed_total, ignored_total, workers, restarts) VALUES (?)
       ON DUPLICATE KEY UPDATE queue = VALUES(queue)`,
    [
      [
        name,
        at,
        inbox,
        pending,
        running,
        retry,
        failed,
        totals.done,
        totals.failed,
        totals.ignored,
        fleet!.workers,
        fleet!.restarts,
      ],
    ],
  )
}
