import { and, desc, eq, inArray, lt, or } from 'drizzle-orm'
import { queues } from '../../drizzle/schema/crawl'
import { workerEvents, workers } from '../../drizzle/schema/fleet'
import type { Services } from '../context'

type WorkerRow = typeof workers.$inferSelect
type EventRow = typeof workerEvents.$inferSelect

/** A worker as the console shows it. Times are ms since 1970. */
export interface WorkerView
  extends Pick<
    WorkerRow,
    'id' | 'kind' | 'queue' | 'hostname' | 'pid' | 'state' | 'running' | 'done' | 'failed' | 'rssBytes'
  > {
  /** Pages that it may fetch at once. */
  concurrency: number | null
  startedAt: number
  heartbeatAt: number
  stoppedAt: number | null
}

const WORKER_FILTERS = { alive: ['running', 'draining'], gone: ['lost', 'stopped'] } as const
export type WorkerFilter = keyof typeof WORKER_FILTERS

/** Where a page of the list ended: time (ms) and id of its last row, as the list is sorted. */
export interface WorkerCursor {
  at: number
  id: string
}

/** Workers, the one that was heard of last in front. Each state is read through its own stretch of the index. */
export async function viewWorkers(
  services: Services,
  input: { show: WorkerFilter; queue?: string | undefined; after?: WorkerCursor | undefined; limit: number },
): Promise<{ workers: WorkerView[]; next: WorkerCursor | null }> {
  const found = await Promise.all(
    WORKER_FILTERS[input.show].map((state) => workersOfState(services, { ...input, state })),
  )
  const rows = found.flat().sort((a, b) => b.heartbeatAt - a.heartbeatAt || (a.id < b.id ? 1 : -1))
  const shown = rows.slice(0, input.limit)
  const last = shown.at(-1)
  return {
    workers: shown,
    next: rows.length > input.limit && last ? { at: last.heartbeatAt, id: last.id } : null,
  }
}

async function workersOfState(
  services: Services,
  {
    state,
    queue,
    after,
    limit,
  }: {
    state: WorkerRow['state']
    queue?: string | undefined
    after?: WorkerCursor | undefined
    limit: number
  },
): Promise<WorkerView[]> {
  const at = after && new Date(after.at)
  const rows = await services.database.orm
    .select({ worker: workers, concurrency: queues.concurrency })
    .from(workers)
    .leftJoin(queues, eq(queues.name, workers.queue))
    .where(
      and(
        eq(workers.state, state),
        queue === undefined ? undefined : eq(workers.queue, queue),
        at && or(lt(workers.heartbeatAt, at), and(eq(workers.heartbeatAt, at), lt(workers.id, after.id))),
      ),
    )
    .orderBy(desc(workers.heartbeatAt), desc(workers.id))
    .limit(limit + 1)
  return rows.map(({ worker, concurrency }) => ({
    id: worker.id,
    kind: worker.kind,
    queue: worker.queue,
    hostname: worker.hostname,
    pid: worker.pid,
    state: worker.state,
    running: worker.running,
    done: worker.done,
    failed: worker.failed,
    rssBytes: worker.rssBytes,
    concurrency,
    startedAt: worker.startedAt.getTime(),
    heartbeatAt: worker.heartbeatAt.getTime(),
    stoppedAt: worker.stoppedAt?.getTime() ?? null,
  }))
}

/** What counts as a restart: whatever ended a worker that was not told to end. */
const RESTARTS = ['restart', 'lost', 'oom'] as const satisfies EventRow['kind'][]

export interface WorkerEventView extends Omit<EventRow, 'at'> {
  /** ms since 1970. */
  at: number
}

/** What happened to workers, newest first; `before` is the id of the last one seen. */
export async function viewWorkerEvents(
  services: Services,
  { restartsOnly, before, limit }: { restartsOnly: boolean; before?: number | undefined; limit: number },
): Promise<{ events: WorkerEventView[]; next: number | null }> {
  const rows = await services.database.orm
    .select()
    .from(workerEvents)
    .where(
      and(
        restartsOnly ? inArray(workerEvents.kind, [...RESTARTS]) : undefined,
        before === undefined ? undefined : lt(workerEvents.id, before),
      ),
    )
    .orderBy(desc(workerEvents.id))
    .limit(limit + 1)
  const events = rows.slice(0, limit).map((row) => ({ ...row, at: row.at.getTime() }))
  return { events, next: rows.length > limit ? events.at(-1)!.id : null }
}
