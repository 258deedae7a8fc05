import { and, desc, eq, lt, or, sql } from 'drizzle-orm'
import type { Counts } from '../../core/queue/states'
import { OUTCOMES } from '../../core/queue/states'
import { pages } from '../../drizzle/schema/pages'
import type { Services } from '../context'
import { ENDED, listRuns, type RunRow, runStatus } from '../services/runs'

/** A run as the console shows it: the record, and for one that is under way the dispatcher's counts of this moment. */
export interface RunView {
  id: number
  spider: string
  queue: string
  state: RunRow['state']
  trigger: RunRow['trigger']
  startedBy: string | null
  error: string | null
  /** Both in ms since 1970. */
  createdAt: number
  finishedAt: number | null
  counts: Counts
  items: number
  /** Pages that ended per second: lately while it runs, over all its time afterwards; null before the first. */
  pagesPerSecond: number | null
}

/** Runs, newest first, `limit` at a time: `before` is the id of the last one seen. */
export async function viewRuns(
  services: Services,
  { before, limit }: { before?: number | undefined; limit: number },
): Promise<{ runs: RunView[]; next: number | null }> {
  const rows = await listRuns(services, { before, limit: limit + 1 })
  const shown = rows.slice(0, limit)
  return {
    runs: await Promise.all(shown.map((row) => view(services, row))),
    next: rows.length > limit ? shown.at(-1)!.id : null,
  }
}

/** One run, or null when there is none of that id. */
export async function viewRun(services: Services, id: number): Promise<RunView | null> {
  const [row] = await listRuns(services, { before: id + 1, limit: 1 })
  return row?.id === id ? view(services, row) : null
}

type Row = Awaited<ReturnType<typeof listRuns>>[number]

async function view(services: Services, row: Row): Promise<RunView> {
  const { id, queue, state, trigger, startedBy, error, createdAt, finishedAt } = row
  return {
    id,
    spider: row.spider ?? '',
    queue,
    state,
    trigger,
    startedBy,
    error,
    createdAt: createdAt.getTime(),
    finishedAt: finishedAt?.getTime() ?? null,
    ...(ENDED.includes(state) ? recorded(row) : await live(services, row)),
  }
}

/** From the row alone: a page of the list asks nothing more for runs that are over. */
function recorded({ admitted, done, failed, ignored, cancelled, items, createdAt, finishedAt }: Row) {
  const counts: Counts = { admitted, done, failed, ignored, cancelled, pending: 0, running: 0, retry: 0 }
  const seconds = finishedAt ? (finishedAt.getTime() - createdAt.getTime()) / 1000 : 0
  const ended = done + failed + ignored
  return { counts, items, pagesPerSecond: ended > 0 && seconds > 0 ? ended / seconds : null }
}

async function live(services: Services, row: Row) {
  const { counts, items, pagesPerSecond } = await runStatus(services, row.id)
  return { counts, items, pagesPerSecond }
}

export interface PageView {
  /** SHA-256 of the canonical URL, hex. */
  hash: string
  url: string
  state: (typeof OUTCOMES)[number]
  reason: string | null
  detail: string | null
  status: number | null
  title: string | null
  depth: number
  ms: number | null
  bytes: number | null
  attempts: number
  items: number
  /** ms since 1970. */
  fetchedAt: number
}

/** Where a page of the list ended: time (ms), items and hash of its last row, as the index is sorted. */
export interface PageCursor {
  at: number
  items: number
  hash: string
}

/**
 * Pages of a run that ended, newest first. Each state is read through its own stretch of the index (run, state, time, items), so
 * that the first rows of a run of millions come as fast as those of a small one.
 */
export async function viewPages(
  services: Services,
  input: {
    run: number
    state?: PageView['state'] | undefined
    after?: PageCursor | undefined
    limit: number
  },
): Promise<{ pages: PageView[]; next: PageCursor | null }> {
  const states = input.state ? [input.state] : OUTCOMES
  const found = await Promise.all(states.map((state) => pagesOfState(services, { ...input, state })))
  const rows = found.flat().sort(newestFirst)
  const shown = rows.slice(0, input.limit)
  const last = shown.at(-1)
  return {
    pages: shown,
    next:
      rows.length > input.limit && last ? { at: last.fetchedAt, items: last.items, hash: last.hash } : null,
  }
}

async function pagesOfState(
  services: Services,
  {
    run,
    state,
    after,
    limit,
  }: { run: number; state: PageView['state']; after?: PageCursor | undefined; limit: number },
): Promise<PageView[]> {
  const at = after && new Date(after.at)
  const rows = await services.database.orm
    .select({
      urlHash: pages.urlHash,
      url: pages.url,
      state: pages.state,
      reason: pages.reason,
      detail: pages.detail,
      status: pages.status,
      title: pages.title,
      depth: pages.depth,
      ms: pages.ms,
      bytes: pages.bytes,
      attempts: pages.attempts,
      items: pages.items,
      fetchedAt: pages.fetchedAt,
    })
    .from(pages)
    .where(
      and(
        eq(pages.runId, run),
        eq(pages.state, state),
        at && sql`${pages.fetchedAt} <= ${at}`,
        at &&
          or(
            lt(pages.fetchedAt, at),
            lt(pages.items, after.items),
            and(eq(pages.items, after.items), lt(pages.urlHash, Buffer.from(after.hash, 'hex'))),
          ),
      ),
    )
    .orderBy(desc(pages.fetchedAt), desc(pages.items), desc(pages.urlHash))
    .limit(limit + 1)
  return rows.map(({ urlHash, fetchedAt, ...row }) => ({
    ...row,
    hash: urlHash.toString('hex'),
    fetchedAt: fetchedAt.getTime(),
  }))
}

function newestFirst(a: PageView, b: PageView): number {
  return b.fetchedAt - a.fetchedAt || b.items - a.items || (a.hash < b.hash ? 1 : -1)
}
