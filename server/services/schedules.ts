import { and, asc, count, desc, eq, getTableColumns, like, lt, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { env } from '../../core/env'
import { UserError } from '../../core/errors'
import { inTransaction } from '../../drizzle/database'
import { fires, schedules, spiders } from '../../drizzle/schema/crawl'
import type { Services } from '../context'
import { change, select } from '../db'
import { type Actor, recordChange } from './audit-log'
import { checkCron, nextFires } from './cron'
import { ensureQueue } from './queues'
import { getSpider } from './spiders'

export type ScheduleRow = typeof schedules.$inferSelect

const scheduleSchema = z.strictObject({
  /** Absent: a new schedule. */
  id: z.number().int().positive().optional(),
  name: z.string().trim().min(1).max(191),
  /** Id of the spider that each fire runs. */
  spider: z.number().int().positive(),
  queue: z.string().min(1).max(64),
  cron: z.string().trim().min(1).max(120),
  /** IANA name; absent: the environment's TZ. */
  zone: z.string().min(1).max(64).optional(),
  /** What a fire does while an earlier run of the schedule goes on. */
  overlap: z.enum(['skip', 'queue', 'parallel']).default('skip'),
  /** What becomes of fires that no scheduler was there for. */
  missed: z.enum(['skip', 'once', 'all']).default('once'),
  enabled: z.boolean().default(true),
})
export type ScheduleInput = z.input<typeof scheduleSchema>

/**
 * Stores a schedule. It fires from now on: what the expression would have fired before is not made up for.
 * @throws UserError for a wrong field, expression or zone, an unknown spider or schedule.
 */
export async function saveSchedule(s: Services, input: ScheduleInput, actor: Actor): Promise<ScheduleRow> {
  const parsed = scheduleSchema.safeParse(input)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw new UserError(
      `The schedule can't be saved: its ${issue!.path.join('.') || 'input'} is not usable (${issue!.message}).`,
    )
  }
  const { id, name, spider, queue, cron, overlap, missed, enabled, zone = env().TZ } = parsed.data
  checkCron(cron, zone)
  if (nextFires(cron, zone, new Date(), 1).length === 0)
    throw new UserError(
      `The cron expression "${cron}" is never due; its day and month don't meet, so change one of them.`,
      { code: 'cron_never', values: { cron } },
    )
  await getSpider(s, spider)
  await ensureQueue(s, queue)
  const saved = await inTransaction(s.database.pool, async (connection) => {
    const columns = { spider_id: spider, queue, name, cron, zone, overlap, missed, enabled }
    const assignments = `${Object.keys(columns)
      .map((column) => `${column} = ?`)
      .join(', ')}, updated_at = UTC_TIMESTAMP(3), decided_until = UTC_TIMESTAMP(3)`
    const values = Object.values(columns)
    const result =
      id === undefined
        ? await change(
            connection,
            `INSERT INTO schedules SET ${assignments}, created_at = UTC_TIMESTAMP(3)`,
            values,
          )
        : await change(connection, `UPDATE schedules SET ${assignments} WHERE id = ?`, [...values, id])
    if (result.affectedRows === 0) throw noSchedule(id!)
    const key = id ?? result.insertId
    await recordChange(
      connection,
      actor,
      id === undefined ? 'schedule.create' : 'schedule.update',
      key,
      parsed.data,
    )
    return key
  })
  return getSchedule(s, saved)
}

/** Stops or resumes a schedule. What would have fired in between is not made up for. */
export async function enableSchedule(
  s: Services,
  id: number,
  enabled: boolean,
  actor: Actor,
): Promise<ScheduleRow> {
  await inTransaction(s.database.pool, async (connection) => {
    const { affectedRows } = await change(
      connection,
      'UPDATE schedules SET decided_until = IF(enabled, decided_until, UTC_TIMESTAMP(3)), enabled = ?, updated_at = UTC_TIMESTAMP(3) WHERE id = ?',
      [enabled, id],
    )
    if (affectedRows === 0) throw noSchedule(id)
    await recordChange(connection, actor, enabled ? 'schedule.enable' : 'schedule.disable', id)
  })
  return getSchedule(s, id)
}

/** Removes a schedule; its runs and the record of its fires stay. */
export async function deleteSchedule(s: Services, id: number, actor: Actor): Promise<void> {
  await inTransaction(s.database.pool, async (connection) => {
    const { affectedRows } = await change(connection, 'DELETE FROM schedules WHERE id = ?', [id])
    if (affectedRows === 0) throw noSchedule(id)
    // A fire that waits for its turn has no schedule to wait in any more.
    await change(
      connection,
      "UPDATE fires SET kind = 'skipped', reason = 'the schedule was deleted while this fire waited' WHERE schedule_id = ? AND kind = 'queued'",
      [id],
    )
    await recordChange(connection, actor, 'schedule.delete', id)
  })
}

export interface ScheduleFilter {
  /** Part of the name. */
  search?: string | undefined
  queue?: string | undefined
  enabled?: boolean | undefined
}

function conditions({ search, queue, enabled }: ScheduleFilter): SQL | undefined {
  return and(
    search ? like(schedules.name, `%${search.replace(/[\\%_]/g, '\\$&')}%`) : undefined,
    queue === undefined ? undefined : eq(schedules.queue, queue),
    enabled === undefined ? undefined : eq(schedules.enabled, enabled),
  )
}

/** Stops or resumes all schedules that match and are not so yet. @returns how many. */
export async function enableSchedules(
  s: Services,
  filter: ScheduleFilter,
  enabled: boolean,
  actor: Actor,
): Promise<number> {
  const matching = await s.database.orm
    .select({ id: schedules.id })
    .from(schedules)
    .where(conditions({ ...filter, enabled: !enabled }))
  for (const { id } of matching) await enableSchedule(s, id, enabled, actor)
  return matching.length
}

/** How many schedules match, running and stopped. */
export async function countSchedules(
  s: Services,
  filter: ScheduleFilter,
): Promise<{ enabled: number; stopped: number }> {
  const rows = await s.database.orm
    .select({ enabled: schedules.enabled, n: count() })
    .from(schedules)
    .where(conditions(filter))
    .groupBy(schedules.enabled)
  const of = (enabled: boolean) => rows.find((row) => row.enabled === enabled)?.n ?? 0
  return { enabled: of(true), stopped: of(false) }
}

/** Where a page of the list ended: as it is sorted. */
export interface ScheduleCursor {
  name: string
  id: number
}

/** Schedules by name, each with its next fires; all that match, or the `limit` after the last one seen. */
export async function listSchedules(
  s: Services,
  filter: ScheduleFilter & { id?: number | undefined } = {},
  page: { after?: ScheduleCursor | undefined; limit?: number } = {},
): Promise<(ScheduleRow & { spider: string | null; next: Date[] })[]> {
  const { after } = page
  const rows = await s.database.orm
    .select({ ...getTableColumns(schedules), spider: spiders.name })
    .from(schedules)
    .leftJoin(spiders, eq(spiders.id, schedules.spiderId))
    .where(
      and(
        conditions(filter),
        filter.id === undefined ? undefined : eq(schedules.id, filter.id),
        after && sql`(${schedules.name}, ${schedules.id}) > (${after.name}, ${after.id})`,
      ),
    )
    .orderBy(asc(schedules.name), asc(schedules.id))
    .limit(page.limit ?? 10_000)
  const now = await databaseNow(s)
  return rows.map((row) => ({ ...row, next: row.enabled ? nextFires(row.cron, row.zone, now, 5) : [] }))
}

/** The next `count` instants at which an expression is due. @throws UserError for a wrong expression or zone. */
export function previewFires(cron: string, zone: string, count: number, after: Date = new Date()): Date[] {
  return nextFires(cron, zone, after, count)
}

/**
 * What became of each time a schedule was due, the latest time first: the order of the unique index (schedule, time), so that
 * the first page of a long history costs as much as the last. `before` is the time of the last one seen.
 */
export async function listFires(
  s: Services,
  schedule: number,
  before?: Date,
  limit = 50,
): Promise<(typeof fires.$inferSelect)[]> {
  return s.database.orm
    .select()
    .from(fires)
    .where(and(eq(fires.scheduleId, schedule), before && lt(fires.fireAt, before)))
    .orderBy(desc(fires.fireAt))
    .limit(Math.min(limit, 500))
}

/** The database's clock, in UTC: the one that all schedulers agree on. */
export async function databaseNow(s: Services): Promise<Date> {
  const [row] = await select<{ now: Date }>(s.database.pool, 'SELECT UTC_TIMESTAMP(3) AS now')
  return row!.now
}

async function getSchedule(s: Services, id: number): Promise<ScheduleRow> {
  const [row] = await s.database.orm.select().from(schedules).where(eq(schedules.id, id))
  if (!row) throw noSchedule(id)
  return row
}

export const noSchedule = (id: number) =>
  new UserError(`There is no schedule ${id}; the list of schedules shows those there are.`, {
    code: 'schedule_unknown',
    values: { id: String(id) },
  })
