import type { Services } from '../context'
import { select } from '../db'
import { type FrontierRun, openFrontier } from '../services/run-frontier'
import { closeRecord } from './finish-runs'
import { oneByOne } from './one-by-one'

/** Carries cancels through: everything of the run that has not ended is taken out of the queue, then the record is closed. */
export async function cancelRuns(s: Services, still: () => boolean): Promise<void> {
  const runs = await select<Omit<FrontierRun, 'definition'> & { definition: string }>(
    s.database.pool,
    "SELECT id, spider_id AS spiderId, queue, definition FROM runs WHERE state = 'cancelling' ORDER BY id LIMIT 100",
  )
  await oneByOne(
    s,
    runs,
    still,
    ({ id }) => ({ run: id }),
    async (run) => {
      const queue = s.queue(run.queue)
      // A run that is unknown to Redis can't be cancelled there, and seeding that has read it already would open it.
      await openFrontier(s, { ...run, definition: JSON.parse(run.definition) as FrontierRun['definition'] })
      for (let left = 1; left > 0; ) {
        if (!still()) return
        left = (await queue.cancelRun(run.id)).left
      }
      if (await closeRecord(s, run.id, 'cancelling', 'cancelled', await queue.counts(run.id)))
        s.log.info({ run: run.id, queue: run.queue }, 'the run is cancelled')
    },
  )
}
