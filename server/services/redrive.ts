import { UserError } from '../../core/errors'
import { hostKey, urlId } from '../../core/url'
import { inTransaction } from '../../drizzle/database'
import type { Services } from '../context'
import { change, select } from '../db'
import { type Actor, recordChange } from './audit-log'
import { filterCondition, type PageFilter } from './page-filter'
import { openFrontier } from './run-frontier'
import { getRun, type RunRow } from './runs'
import { storedPages } from './stored-pages'

/** Failed pages: those with these hashes (hex), or all that answer to a filter. */
export type Which = { hashes: string[] } | { filter: Omit<PageFilter, 'state'> }

/**
 * Gives failed pages of a run another chance, with fresh budgets; a finished run goes on until they have ended. Asking twice
 * at once takes each page once. Who asked, and for which, is on record before the first page is touched.
 * @param which absent: all that failed.
 * @returns how many pages wait again.
 * @throws UserError for an unknown run, or one that was cancelled or has not begun.
 */
export async function redriveRun(
  s: Services,
  id: number,
  actor: Actor,
  which: Which = { filter: {} },
): Promise<number> {
  const run = await getRun(s, id)
  if (run.state !== 'running' && run.state !== 'finished')
    throw new UserError(`Run ${id} is ${run.state}, so nothing of it can be tried again; start a new run.`)
  await inTransaction(s.database.pool, (connection) =>
    recordChange(connection, actor, 'run.redrive', id, which),
  )
  // Open first: a process that ends in between leaves a run that the scheduler finishes again.
  await reopen(s, id)
  const queue = s.queue(run.queue)
  let many = 0
  if ((await queue.counts(id)).admitted === 0) many = await redriveFromRecord(s, run, which)
  else if (isAll(which)) {
    for (let taken = 1; taken > 0; many += taken) taken = await queue.redrive(id)
  } else {
    for await (const hashes of failedPages(s, id, which))
      many += await queue.redrive(
        id,
        hashes.map((hash) => `${id}:${idOf(hash)}`),
      )
  }
  // The scheduler may have finished it before the first page was back.
  if (many > 0) await reopen(s, id)
  await inTransaction(s.database.pool, (connection) =>
    recordChange(connection, actor, 'run.redriven', id, { pages: many }),
  )
  return many
}

const CHUNK = 500

const isAll = (which: Which) => 'filter' in which && Object.keys(which.filter).length === 0

/** The key that a queue knows a page by, as `urlId` in core/url.ts makes it. */
const idOf = (hash: Buffer) => hash.toString('base64url', 0, 16)

/** Failed pages by key, so that one that fails again meanwhile does not come twice. */
async function* failedPages(s: Services, run: number, which: Which): AsyncGenerator<Buffer[]> {
  if ('hashes' in which) {
    const hashes = which.hashes.map((hash) => Buffer.from(hash, 'hex'))
    for (let from = 0; from < hashes.length; from += CHUNK) yield hashes.slice(from, from + CHUNK)
    return
  }
  const { text, values } = filterCondition({ ...which.filter, state: 'failed' })
  for (let after: Buffer = Buffer.alloc(0); ; ) {
    const rows = await select<{ hash: Buffer }>(
      s.database.pool,
      `SELECT url_hash AS hash FROM pages FORCE INDEX (PRIMARY) WHERE run_id = ? AND url_hash > ?${text} ORDER BY url_hash LIMIT ?`,
      [run, after, ...values, CHUNK],
    )
    if (rows.length > 0) yield rows.map(({ hash }) => hash)
    if (rows.length < CHUNK) return
    after = rows.at(-1)!.hash
  }
}

async function reopen(s: Services, id: number): Promise<void> {
  await change(
    s.database.pool,
    "UPDATE runs SET state = 'running', finished_at = NULL WHERE id = ? AND state = 'finished'",
    [id],
  )
}

/** Redis has let go of the run, or lost it: its frontier is made again from the record, with the failures as open pages. */
async function redriveFromRecord(s: Services, run: RunRow, which: Which): Promise<number> {
  const queue = s.queue(run.queue)
  await openFrontier(s, run)
  let many = 0
  for await (const pages of storedPages(s, run.id)) {
    const wanted = await wantedOf(s, run.id, pages, which)
    const tasks = pages.map((page) => ({
      ...page,
      id: urlId(page.url, run.definition.identity),
      host: hostKey(page.url),
    }))
    const again = tasks.filter((task) => task.state === 'failed' && wanted.has(task.hash.toString('hex')))
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

/** Of a stretch of pages by key, the hashes (hex) of those that are meant. */
async function wantedOf(
  s: Services,
  run: number,
  pages: { hash: Buffer }[],
  which: Which,
): Promise<Set<string>> {
  if ('hashes' in which) return new Set(which.hashes)
  const { text, values } = filterCondition({ ...which.filter, state: 'failed' })
  const rows = await select<{ hash: Buffer }>(
    s.database.pool,
    `SELECT url_hash AS hash FROM pages WHERE run_id = ? AND url_hash BETWEEN ? AND ?${text}`,
    [run, pages[0]!.hash, pages.at(-1)!.hash, ...values],
  )
  return new Set(rows.map(({ hash }) => hash.toString('hex')))
}
