import { and, desc, eq, getTableColumns, lt, type SQL } from 'drizzle-orm'
import { z } from 'zod'
import { UserError } from '../../core/errors'
import type { Counts } from '../../core/queue/states'
import type { Spider } from '../../core/spider'
import { checkSpider } from '../../core/spider-check'
import { inTransaction } from '../../drizzle/database'
import { type RUN_STATES, runs, spiders } from '../../drizzle/schema/crawl'
import type { Services } from '../context'
import { change, select } from '../db'
import { type Actor, recordChange } from './audit-log'
import { ensureQueue } from './queues'
import {
  hasSeeds,
  insertSeeds,
  type RefusedSeed,
  refusal,
  SEED_CHUNK,
  type SeedInput,
  type SeedRow,
  toSeedRow,
} from './seed-rows'
import { getSpider } from './spiders'

export type RunRow = typeof runs.$inferSelect
export type RunState = (typeof RUN_STATES)[number]

/** Nothing more happens in a run with one of these, unless an operator re-drives its failures. */
export const ENDED: readonly RunState[] = ['finished', 'cancelled', 'failed']

export interface RunInput {
  /** Id of the spider the run belongs to. */
  spider: number
  /** What this run obeys instead of the spider's stored definition. */
  definition?: Spider
  queue: string
  /** Start URLs instead of those of the spider; absent or empty: the spider's. */
  seeds?: Iterable<SeedInput> | AsyncIterable<SeedInput>
  trigger: 'manual' | 'cli'
  startedBy?: Actor
}

const scalars = z.object({
  spider: z.number().int().positive(),
  queue: z.string().min(1).max(64),
  trigger: z.enum(['manual', 'cli']),
  startedBy: z.string().min(1).max(191).optional(),
})

/** Refused seeds that are told one by one; the rest only counts. */
const REFUSED_TOLD = 1000

/**
 * Records a run with its seeds; the scheduler admits them, and workers take it from there. Nothing is crawled before all
 * seeds are on record.
 * @returns the run, how many seeds of its own it has, and those refused (the first thousand).
 * @throws UserError when there is no seed to begin with, or an input is wrong; then there is no run.
 */
export async function createRun(
  s: Services,
  input: RunInput,
): Promise<{ id: number; seeds: number; rejected: RefusedSeed[] }> {
  const checked = scalars.safeParse(input)
  if (!checked.success) {
    const [issue] = checked.error.issues
    throw new UserError(
      `The run can't be started: its ${issue!.path.join('.')} is not usable (${issue!.message}).`,
    )
  }
  const spider = await getSpider(s, input.spider)
  const definition = input.definition ? checkSpider(input.definition) : spider.definition
  await ensureQueue(s, input.queue)
  const actor = input.startedBy ?? input.trigger
  const { pool } = s.database
  const { insertId: id } = await change(
    pool,
    "INSERT INTO runs (spider_id, queue, definition, state, `trigger`, started_by, created_at) VALUES (?, ?, ?, 'preparing', ?, ?, UTC_TIMESTAMP(3))",
    [spider.id, input.queue, JSON.stringify(definition), input.trigger, actor],
  )
  try {
    const { stored, rejected } = await storeSeeds(s, { spiderId: spider.id, runId: id }, input.seeds ?? [])
    if (stored === 0 && rejected[0])
      throw new UserError(`The run has no seed that can be crawled: ${rejected[0].reason}`, rejected[0].fault)
    if (stored === 0 && !(await hasSeeds(pool, { id: spider.id, definition })))
      throw new UserError(
        `The run has nowhere to begin; give it a URL, or give the spider "${spider.name}" seeds.`,
        { code: 'no_seed', values: { spider: spider.name } },
      )
    await inTransaction(pool, async (connection) => {
      await change(connection, "UPDATE runs SET state = 'seeding', own_seeds = ? WHERE id = ?", [
        stored > 0,
        id,
      ])
      await recordChange(connection, actor, 'run.start', id, {
        spider: spider.name,
        queue: input.queue,
        seeds: stored,
      })
    })
    return { id, seeds: stored, rejected }
  } catch (error) {
    await discard(s, id)
    throw error
  }
}

/** Asks for the end of a run: at once nothing of it is begun any more, and what is under way is not stored as its result. */
export async function cancelRun(s: Services, id: number, actor: Actor): Promise<{ state: RunState }> {
  const queue = await inTransaction(s.database.pool, async (connection) => {
    const [run] = await select<{ state: RunState; queue: string }>(
      connection,
      'SELECT state, queue FROM runs WHERE id = ? FOR UPDATE',
      [id],
    )
    if (!run) throw noRun(id)
    if (ENDED.includes(run.state) || run.state === 'cancelling') return null
    await change(connection, "UPDATE runs SET state = 'cancelling', open_key = NULL WHERE id = ?", [id])
    await recordChange(connection, actor, 'run.cancel', id)
    return run.queue
  })
  // The scheduler does all of it, even if this process ends here; the first step now makes it immediate.
  if (queue !== null)
    await s
      .queue(queue)
      .cancelRun(id)
      .catch((error: unknown) => s.log.warn({ err: error, run: id }, 'the cancel is left to the scheduler'))
  return { state: (await getRun(s, id)).state }
}

/** Runs, newest first, without their definitions. `before` is the id of the last one seen. */
export async function listRuns(
  s: Services,
  filter: { state?: RunState; spider?: number; schedule?: number; before?: number; limit?: number } = {},
) {
  const { definition: _, ...columns } = getTableColumns(runs)
  const conditions: (SQL | undefined)[] = [
    filter.state && eq(runs.state, filter.state),
    filter.spider === undefined ? undefined : eq(runs.spiderId, filter.spider),
    filter.schedule === undefined ? undefined : eq(runs.scheduleId, filter.schedule),
    filter.before === undefined ? undefined : lt(runs.id, filter.before),
  ]
  return s.database.orm
    .select({ ...columns, spider: spiders.name })
    .from(runs)
    .leftJoin(spiders, eq(spiders.id, runs.spiderId))
    .where(and(...conditions))
    .orderBy(desc(runs.id))
    .limit(Math.min(filter.limit ?? 50, 500))
}

/** @throws UserError when there is none. */
export async function getRun(s: Services, id: number): Promise<RunRow> {
  const [row] = await s.database.orm.select().from(runs).where(eq(runs.id, id))
  if (!row) throw noRun(id)
  return row
}

export interface RunStatus {
  run: RunRow
  counts: Counts
  items: number
  /** Pages that ended per second: over the last ten seconds while it runs, over all its time afterwards; null before the first. */
  pagesPerSecond: number | null
}

/** A run as it stands now: the record, with the dispatcher's counts while it is under way. */
export async function runStatus(s: Services, id: number): Promise<RunStatus> {
  const run = await getRun(s, id)
  if (ENDED.includes(run.state)) {
    const { admitted, done, failed, ignored, cancelled, items } = run
    const counts = { admitted, done, failed, ignored, cancelled, pending: 0, running: 0, retry: 0 }
    const seconds = ((run.finishedAt ?? run.createdAt).getTime() - run.createdAt.getTime()) / 1000
    const ended = done + failed + ignored
    return { run, counts, items, pagesPerSecond: ended > 0 && seconds > 0 ? ended / seconds : null }
  }
  const counts = await s.queue(run.queue).counts(id)
  return { run, counts, ...(await progress(s, id)) }
}

const remembered = new WeakMap<
  Services,
  Map<number, { until: number; found: { items: number; pagesPerSecond: number | null } }>
>()

/** Read from an index alone, but of every page of the run; so at most once in two seconds however many ask. */
async function progress(s: Services, id: number): Promise<{ items: number; pagesPerSecond: number | null }> {
  const known = remembered.get(s) ?? new Map()
  remembered.set(s, known)
  const entry = known.get(id)
  if (entry && entry.until > performance.now()) return entry.found
  const [row] = await select<{ items: number; pages: number; recent: number }>(
    s.database.pool,
    'SELECT CAST(COALESCE(SUM(items), 0) AS SIGNED) AS items, COUNT(*) AS pages, CAST(COALESCE(SUM(fetched_at > UTC_TIMESTAMP(3) - INTERVAL 10 SECOND), 0) AS SIGNED) AS recent FROM pages FORCE INDEX (pages_state) WHERE run_id = ?',
    [id],
  )
  const found = { items: row!.items, pagesPerSecond: row!.pages > 0 ? row!.recent / 10 : null }
  if (known.size > 100) known.clear()
  known.set(id, { until: performance.now() + 2000, found })
  return found
}

async function storeSeeds(
  s: Services,
  owner: { spiderId: number; runId: number },
  seeds: Iterable<SeedInput> | AsyncIterable<SeedInput>,
): Promise<{ stored: number; rejected: RefusedSeed[] }> {
  const rejected: RefusedSeed[] = []
  let stored = 0
  let chunk: SeedRow[] = []
  for await (const seed of seeds) {
    try {
      chunk.push(toSeedRow(seed))
    } catch (error) {
      const fault = error instanceof UserError ? error.fault : undefined
      if (rejected.length < REFUSED_TOLD)
        rejected.push({ url: String(seed.url), reason: refusal(error), fault })
    }
    if (chunk.length === SEED_CHUNK) {
      stored += await insertSeeds(s.database.pool, owner, chunk)
      chunk = []
    }
  }
  stored += await insertSeeds(s.database.pool, owner, chunk)
  return { stored, rejected }
}

/** Nobody has seen a run that is still being prepared, so it may go without a trace. */
async function discard(s: Services, id: number): Promise<void> {
  try {
    await change(s.database.pool, 'DELETE FROM seeds WHERE run_id = ?', [id])
    await change(s.database.pool, "DELETE FROM runs WHERE id = ? AND state = 'preparing'", [id])
  } catch (error) {
    s.log.warn({ err: error, run: id }, 'a run that was not started is left to the retention duty')
  }
}

const noRun = (id: number) =>
  new UserError(`There is no run ${id}; the list of runs shows those there are.`, {
    code: 'run_unknown',
    values: { id: String(id) },
  })
