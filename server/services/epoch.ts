import { parseInfo } from '../../core/redis-safety'
import { isAway } from '../../drizzle/database'
import type { Services } from '../context'
import { change, select } from '../db'

export interface Epoch {
  epoch: number
  redisRunId: string
  redisReplId: string
}

/** Which life of Redis the tokens belong to. Epoch 1 is entered on first use, with no Redis known yet. */
export async function currentEpoch(s: Services): Promise<Epoch> {
  for (;;) {
    const [row] = await select<Epoch>(
      s.database.pool,
      'SELECT epoch, redis_run_id AS redisRunId, redis_repl_id AS redisReplId FROM dispatcher WHERE id = 1',
    )
    if (row) return row
    await change(
      s.database.pool,
      "INSERT IGNORE INTO dispatcher (id, epoch, redis_run_id, redis_repl_id, changed_at) VALUES (1, 1, '', '', UTC_TIMESTAMP(3))",
    )
  }
}

/** Whether Redis may have forgotten something since the epoch began. */
export async function wentBack(s: Services): Promise<boolean> {
  const known = await currentEpoch(s)
  return isOther(known, await lookAt(s))
}

/**
 * Begins a new epoch when Redis may have gone back in time: it restarted (new run id), another server took its place (new
 * replication id), or its data was flushed or restored (a queue of another epoch). The update is conditional on the old epoch,
 * so of two schedulers one raises it.
 * @returns the epoch that holds now, and whether this call began it.
 */
export async function settleEpoch(s: Services): Promise<{ epoch: number; began: boolean }> {
  const known = await currentEpoch(s)
  const seen = await lookAt(s)
  const first = known.redisRunId === ''
  if (!first && !isOther(known, seen)) return { epoch: known.epoch, began: false }
  // A queue may be ahead when the database was restored from a backup: its tokens must grow all the same.
  const epoch = first ? Math.max(known.epoch, ...seen.epochs) : Math.max(known.epoch, ...seen.epochs) + 1
  const { affectedRows } = await change(
    s.database.pool,
    'UPDATE dispatcher SET epoch = ?, redis_run_id = ?, redis_repl_id = ?, changed_at = UTC_TIMESTAMP(3) WHERE id = 1 AND epoch = ? AND redis_run_id = ?',
    [epoch, seen.runId, seen.replId, known.epoch, known.redisRunId],
  )
  return affectedRows === 0 ? settleEpoch(s) : { epoch, began: !first }
}

interface Seen {
  runId: string
  replId: string
  /** Of each queue, as Redis has it. */
  epochs: number[]
}

async function lookAt(s: Services): Promise<Seen> {
  const { run_id: runId = '', master_replid: replId = '' } = parseInfo(await s.redis.info())
  // A queue that is only just made may not have its epoch yet.
  const queues = await select<{ name: string }>(
    s.database.pool,
    'SELECT name FROM queues WHERE created_at < UTC_TIMESTAMP(3) - INTERVAL 10 SECOND',
  )
  const epochs = await Promise.all(queues.map(({ name }) => epochOf(s, name)))
  return { runId, replId, epochs: epochs.filter((epoch) => epoch !== null) }
}

/** Null for a queue whose keys were spoilt: nothing can be claimed from it, and it must not stop the others. */
async function epochOf(s: Services, queue: string): Promise<number | null> {
  try {
    return (await s.queue(queue).lengths()).epoch
  } catch (error) {
    if (isAway(error)) throw error
    return null
  }
}

function isOther(known: Epoch, { runId, replId, epochs }: Seen): boolean {
  return (
    runId !== known.redisRunId ||
    replId !== known.redisReplId ||
    epochs.some((epoch) => epoch !== known.epoch)
  )
}
