import type { Counts } from '../../core/queue/states'
import type { Services } from '../context'
import { change, select } from '../db'
import { currentEpoch, wentBack } from '../services/epoch'
import { oneByOne } from './one-by-one'
import { recordDead } from './record-dead'

/** A run that takes inbox entries stays open this long after the last one, so that a trickle of URLs makes one run. */
const INBOX_IDLE_SECONDS = 60

interface OpenRun {
  id: number
  spiderId: number
  queue: string
  openKey: string | null
}

/**
 * Declares runs finished, exactly once: the queue closes the run in one script, and only when nothing of it is left; the update
 * of the record is conditional on its state. Whoever repeats it finds it done.
 *
 * A run of the inbox first loses its `open_key`, in a step of its own: from then on new entries open a new run, and only then
 * can it be closed, so no entry is admitted to a closed run.
 */
export async function finishRuns(s: Services, still: () => boolean): Promise<void> {
  const { epoch } = await currentEpoch(s)
  // A run of an older epoch may have open pages that Redis forgot: it is rebuilt first.
  const runs = await select<OpenRun>(
    s.database.pool,
    "SELECT id, spider_id AS spiderId, queue, open_key AS openKey FROM runs WHERE state = 'running' AND epoch = ? ORDER BY id LIMIT 1000",
    [epoch],
  )
  await oneByOne(
    s,
    runs,
    still,
    ({ id }) => ({ run: id }),
    (run) => (run.openKey === null ? finishRun(s, run) : detachFromInbox(s, run)),
  )
}

async function detachFromInbox(s: Services, run: OpenRun): Promise<void> {
  const queue = s.queue(run.queue)
  const { pending, running, retry } = await queue.counts(run.id)
  if (pending + running + retry > 0) return
  const { affectedRows } = await change(
    s.database.pool,
    `UPDATE runs SET open_key = NULL WHERE id = ? AND open_key IS NOT NULL AND created_at < UTC_TIMESTAMP(3) - INTERVAL ${INBOX_IDLE_SECONDS} SECOND
     AND NOT EXISTS (SELECT 1 FROM seeds WHERE run_id = ? AND spider_id = ? AND created_at > UTC_TIMESTAMP(3) - INTERVAL ${INBOX_IDLE_SECONDS} SECOND)`,
    [run.id, run.id, run.spiderId],
  )
  if (affectedRows === 1)
    s.log.info({ run: run.id, queue: run.queue }, 'the inbox has been idle; its run takes no more entries')
}

async function finishRun(s: Services, run: OpenRun): Promise<void> {
  const queue = s.queue(run.queue)
  if (!(await queue.finish(run.id))) return
  const counts = await queue.counts(run.id)
  // Nothing is left, says a Redis that may have just gone back in time: then the next epoch opens the run again.
  if (await wentBack(s)) return
  await recordDead(s, run, counts.failed)
  if (await closeRecord(s, run.id, 'running', 'finished', counts))
    s.log.info({ run: run.id, queue: run.queue, ...counts }, 'the run is finished')
}

/** Writes a run's last figures and its end. @returns whether this call was the one that did. */
export async function closeRecord(
  s: Services,
  id: number,
  from: 'running' | 'cancelling',
  to: 'finished' | 'cancelled',
  counts: Counts,
): Promise<boolean> {
  const { admitted, done, failed, ignored, cancelled } = counts
  const { affectedRows } = await change(
    s.database.pool,
    'UPDATE runs SET state = ?, admitted = ?, done = ?, failed = ?, ignored = ?, cancelled = ?, items = (SELECT COALESCE(SUM(items), 0) FROM pages WHERE run_id = ?), finished_at = UTC_TIMESTAMP(3), open_key = NULL WHERE id = ? AND state = ?',
    [to, admitted, done, failed, ignored, cancelled, id, id, from],
  )
  return affectedRows === 1
}
