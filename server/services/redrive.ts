import { UserError } from '../../core/errors'
import { hostKey, urlId } from '../../core/url'
import { inTransaction } from '../../drizzle/database'
import type { Services } from '../context'
import { change } from '../db'
import { type Actor, recordChange } from './audit-log'
import { openFrontier } from './run-frontier'
import { getRun, type RunRow } from './runs'
import { storedPages } from './stored-pages'

/**
 * Gives failed pages of a run another chance, with fresh budgets; a finished run goes on until they have ended. Asking twice
 * at once takes each page once.
 * @param urls as the record has them; absent: all that failed.
 * @returns how many pages wait again.
 * @throws UserError for an unknown run, or one that was cancelled or has not begun.
 */
export async function redriveRun(s: Services, id: number, actor: Actor, urls?: string[]): Promise<number> {
  const run = await getRun(s, id)
  if (run.state !== 'running' && run.state !== 'finished')
    throw new UserError(`Run ${id} is ${run.state}, so nothing of it can be tried again; start a new run.`)
  const ids = urls?.map((url) => urlId(url, run.definition.identity))
  // Open first: a process that ends in between leaves a run that the scheduler finishes again.
  await reopen(s, id)
  const queue = s.queue(run.queue)
  let many = 0
  if ((await queue.counts(id)).admitted === 0) many = await redriveFromRecord(s, run, ids)
  else if (ids) {
    for (let from = 0; from < ids.length; from += CHUNK)
      many += await queue.redrive(
        id,
        ids.slice(from, from + CHUNK).map((one) => `${id}:${one}`),
      )
  } else {
    for (let taken = 1; taken > 0; many += taken) taken = await queue.redrive(id)
  }
  // The scheduler may have finished it before the first page was back.
  if (many > 0) await reopen(s, id)
  await inTransaction(s.database.pool, (connection) =>
    recordChange(connection, actor, 'run.redrive', id, { pages: many }),
  )
  return many
}

const CHUNK = 500

async function reopen(s: Services, id: number): Promise<void> {
  await change(
    s.database.pool,
    "UPDATE runs SET state = 'running', finished_at = NULL WHERE id = ? AND state = 'finished'",
    [id],
  )
}

/** Redis has let go of the run, or lost it: its frontier is made again from the record, with the failures as open pages. */
async function redriveFromRecord(s: Services, run: RunRow, ids: string[] | undefined): Promise<number> {
  const wanted = ids && new Set(ids)
  const queue = s.queue(run.queue)
  await openFrontier(s, run)
  let many = 0
  for await (const pages of storedPages(s, run.id)) {
    const tasks = pages.map((page) => ({
      ...page,
      id: urlId(page.url, run.definition.identity),
      host: hostKey(page.url),
    }))
    const again = tasks.filter((task) => task.state === 'failed' && (!wanted || wanted.has(task.id)))
    const kept = tasks.filter((task) => !again.includes(task))
    await queue.restore(
      run.id,
      kept.map(({ id, state, url, host }) => ({ id, state, url, host })),
    )
    const { admitted } = await queue.admit(
      run.id,
      again.map(({ id, url, host, depth, referrer }) => ({
        id,
        url,
        host,
        depth,
        priority: 0,
        ...(referrer ? { referrer } : {}),
      })),
    )
    many += admitted
  }
  return many
}
