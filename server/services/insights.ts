import { and, desc, eq, gt, gte, inArray, or } from 'drizzle-orm'
import { queues, runs } from '../../drizzle/schema/crawl'
import { samples, workers } from '../../drizzle/schema/fleet'
import { pages } from '../../drizzle/schema/pages'
import type { Services } from '../context'
import { type Failure, summarise } from './failure-summary'

const HOUR_MS = 3_600_000
/** Runs and failures that are looked at: a bound on what one look costs, whatever went wrong. */
const RUNS = 50
const FAILURES = 2_000

/** Error classes and hosts behind the failures of the last hour. */
export const readFailures = async (services: Services) =>
  summarise(await recentFailures(services, new Date(Date.now() - HOUR_MS)))

/** Failed pages since then, those of the newest runs; `reasons` narrows them to some classes. */
export async function recentFailures(
  services: Services,
  since: Date,
  reasons?: readonly string[],
): Promise<Failure[]> {
  const recent = await services.database.orm
    .select({ id: runs.id })
    .from(runs)
    .where(or(inArray(runs.state, ['running', 'cancelling']), gte(runs.finishedAt, since)))
    .orderBy(desc(runs.id))
    .limit(RUNS)
  const found = await Promise.all(
    recent.map(({ id }) =>
      services.database.orm
        .select({ url: pages.url, reason: pages.reason, detail: pages.detail, runId: pages.runId })
        .from(pages)
        .where(
          and(
            eq(pages.runId, id),
            eq(pages.state, 'failed'),
            gt(pages.fetchedAt, since),
            reasons && inArray(pages.reason, [...reasons]),
          ),
        )
        .orderBy(desc(pages.fetchedAt))
        .limit(FAILURES),
    ),
  )
  return found.flat()
}

/** A queue whose backlog has grown for a time, and whether more workers would help. */
export interface Growth {
  queue: string
  /** URLs that waited when the time began, and now. */
  from: number
  to: number
  workers: number
  /** Share of the workers' places that are taken, 0–1; null without workers. */
  load: number | null
  /** Workers to ask for; null when more would only wait for the hosts' turns too. */
  suggested: number | null
}

const GROWS_FOR_MINUTES = 5
/** Workers with more free places than this wait for hosts, not for hands. */
const BUSY = 0.5

/** Queues whose inbox and pending grew with every one of the last minutes, five if not said. A paused queue grows by intent. */
export async function readGrowth(services: Services, minutes = GROWS_FOR_MINUTES): Promise<Growth[]> {
  const { orm } = services.database
  const [open, lines, alive] = await Promise.all([
    orm
      .select({ name: queues.name, concurrency: queues.concurrency })
      .from(queues)
      .where(and(eq(queues.paused, false), eq(queues.draining, false))),
    orm
      .select({ queue: samples.queue, at: samples.at, inbox: samples.inbox, pending: samples.pending })
      .from(samples)
      .where(gte(samples.at, new Date(Date.now() - (minutes + 2) * 60_000)))
      .orderBy(desc(samples.at)),
    orm
      .select({ queue: workers.queue, running: workers.running })
      .from(workers)
      .where(and(eq(workers.state, 'running'), gte(workers.heartbeatAt, new Date(Date.now() - 30_000)))),
  ])
  return open.flatMap(({ name, concurrency }) => {
    const waiting = lines
      .filter((line) => line.queue === name)
      .slice(0, minutes + 1)
      .map((line) => line.inbox + line.pending)
    const grows = waiting.every((many, at) => at === 0 || many < waiting[at - 1]!)
    if (waiting.length <= minutes || !grows) return []
    const own = alive.filter((worker) => worker.queue === name)
    const taken = own.reduce((sum, worker) => sum + worker.running, 0)
    const load = own.length > 0 ? Math.min(1, taken / (own.length * concurrency)) : null
    const more = own.length + Math.max(1, Math.ceil(own.length / 2))
    return [
      {
        queue: name,
        from: waiting.at(-1)!,
        to: waiting[0]!,
        workers: own.length,
        load,
        suggested: load !== null && load < BUSY ? null : more,
      },
    ]
  })
}
