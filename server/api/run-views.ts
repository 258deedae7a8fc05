import type { Counts } from '../../core/queue/states'
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
