import { startUrls } from '../../core/spider'
import { webUrl } from '../../core/url'
import type { Services } from '../context'
import { change, select } from '../db'
import { currentEpoch } from '../services/epoch'
import { openFrontier, type SeededRun } from '../services/run-frontier'
import { SEED_CHUNK, seedTask, storedSeeds } from '../services/seed-rows'
import { oneByOne } from './one-by-one'

interface SeedingRun extends SeededRun {
  seedCursor: number
  epoch: number
}

/**
 * Admits the seeds of new runs, a chunk at a time. `seed_cursor` remembers how far it came, and admitting a URL again changes
 * nothing, so a crash or a second scheduler at the same time does no harm.
 */
export async function seedRuns(s: Services, still: () => boolean): Promise<void> {
  const runs = await select<Omit<SeedingRun, 'definition'> & { definition: string }>(
    s.database.pool,
    // A queue that drains takes up no run; one whose seeding has begun is brought to its end.
    `SELECT id, spider_id AS spiderId, queue, definition, own_seeds AS ownSeeds, seed_cursor AS seedCursor, epoch FROM runs
     WHERE state = 'seeding' AND (epoch > 0 OR queue NOT IN (SELECT name FROM queues WHERE draining)) ORDER BY id LIMIT 20`,
  )
  await oneByOne(
    s,
    runs,
    still,
    ({ id }) => ({ run: id }),
    (run) => seedRun(s, { ...run, definition: JSON.parse(run.definition) as SeededRun['definition'] }, still),
  )
}

async function seedRun(s: Services, run: SeedingRun, still: () => boolean): Promise<void> {
  const { epoch } = await currentEpoch(s)
  // The epoch in which the first seed was admitted: when it has risen by the end, the run is rebuilt, and none is missing.
  if (run.epoch === 0)
    await change(s.database.pool, 'UPDATE runs SET epoch = ? WHERE id = ? AND epoch = 0', [epoch, run.id])
  await openFrontier(s, run)
  const done = await admitSeeds(s, run, run.seedCursor, async (cursor) => {
    const { affectedRows } = await change(
      s.database.pool,
      "UPDATE runs SET seed_cursor = ? WHERE id = ? AND state = 'seeding'",
      [cursor, run.id],
    )
    return affectedRows === 1 && still()
  })
  if (!done) return
  await change(s.database.pool, "UPDATE runs SET state = 'running' WHERE id = ? AND state = 'seeding'", [
    run.id,
  ])
  s.log.info({ run: run.id, queue: run.queue }, 'the run is seeded')
}

/**
 * Admits a run's seeds from `cursor` on: those it was given, or else those of its definition and its spider.
 * @param reached is told after each chunk how far it came; false ends it. @returns whether all were admitted.
 */
export async function admitSeeds(
  s: Services,
  run: SeededRun,
  cursor: number,
  reached: (cursor: number) => Promise<boolean>,
): Promise<boolean> {
  const queue = s.queue(run.queue)
  const { identity } = run.definition
  if (cursor === 0 && !run.ownSeeds) {
    const written = startUrls(run.definition).map((url) =>
      seedTask({ url: webUrl(url), priority: 0, depth: 0, meta: null }, identity),
    )
    for (let from = 0; from < written.length; from += SEED_CHUNK)
      await queue.admit(run.id, written.slice(from, from + SEED_CHUNK))
  }
  for (;;) {
    const rows = await storedSeeds(s.database.pool, run, cursor)
    if (rows.length > 0) {
      const { refused } = await queue.admit(
        run.id,
        rows.map((row) => seedTask(row, identity)),
      )
      cursor = rows.at(-1)!.id
      if (!(await reached(cursor))) return false
      // The cap on pages is reached: the rest would be refused one by one.
      if (refused === rows.length) return true
    }
    if (rows.length < SEED_CHUNK) return true
  }
}
