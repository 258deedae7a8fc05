import { hostKey, urlId } from '../../core/url'
import type { Services } from '../context'
import { change, select } from '../db'
import { openFrontier, type SeededRun } from '../services/run-frontier'
import { storedLinks, storedPages } from '../services/stored-pages'
import { oneByOne } from './one-by-one'
import { admitSeeds } from './seed-runs'

const CHUNK = 500

/**
 * Rebuilds the frontier of unfinished runs that were last known in an older epoch, from the record alone: first every stored
 * outcome is marked as seen, then the seeds and the links of stored pages are admitted. What Redis still knows is left as it is,
 * so nothing is lost, and at most pages under way are fetched again. A crash in between begins anew; repeats change nothing.
 * Until it is done the run keeps its old epoch, and is not declared finished.
 */
export async function rebuildRuns(s: Services, epoch: number, still: () => boolean): Promise<void> {
  const runs = await select<Omit<SeededRun, 'definition'> & { definition: string }>(
    s.database.pool,
    "SELECT id, spider_id AS spiderId, queue, definition, own_seeds AS ownSeeds FROM runs WHERE state = 'running' AND epoch < ? ORDER BY id",
    [epoch],
  )
  await oneByOne(
    s,
    runs,
    still,
    ({ id }) => ({ run: id }),
    async (row) => {
      const run = { ...row, definition: JSON.parse(row.definition) as SeededRun['definition'] }
      if (!(await rebuildRun(s, run, still))) return
      await change(s.database.pool, 'UPDATE runs SET epoch = ? WHERE id = ? AND epoch < ?', [
        epoch,
        run.id,
        epoch,
      ])
      s.log.info({ run: run.id, queue: run.queue, epoch }, 'the run is rebuilt from the record')
    },
  )
}

async function rebuildRun(s: Services, run: SeededRun, still: () => boolean): Promise<boolean> {
  const queue = s.queue(run.queue)
  const { identity } = run.definition
  await openFrontier(s, run)
  for await (const pages of storedPages(s, run.id)) {
    if (!still()) return false
    await queue.restore(
      run.id,
      pages.map(({ url, state, depth, referrer }) => ({
        id: urlId(url, identity),
        url,
        host: hostKey(url),
        state,
        depth,
        ...(referrer === null ? {} : { referrer }),
      })),
    )
  }
  if (!(await admitSeeds(s, run, 0, async () => still()))) return false
  for await (const pages of storedLinks(s, run.id)) {
    const tasks = pages.flatMap((page) =>
      page.links.map(({ url, priority = 0, meta }) => ({
        url,
        id: urlId(url, identity),
        host: hostKey(url),
        depth: page.depth + 1,
        priority,
        referrer: page.url,
        ...(meta !== undefined && { meta }),
      })),
    )
    for (let from = 0; from < tasks.length; from += CHUNK) {
      if (!still()) return false
      await queue.admit(run.id, tasks.slice(from, from + CHUNK))
    }
  }
  return true
}
