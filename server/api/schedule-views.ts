import cronstrue from 'cronstrue/i18n'
import { asc, eq, inArray, sql } from 'drizzle-orm'
import { env } from '../../core/env'
import { fires, runs, spiders } from '../../drizzle/schema/crawl'
import type { Services } from '../context'
import { listQueues } from '../services/queues'
import {
  countSchedules,
  listFires,
  listSchedules,
  previewFires,
  type ScheduleCursor,
  type ScheduleFilter,
  type ScheduleRow,
} from '../services/schedules'

/** A schedule as the console shows it. Times are ms since 1970. */
export interface ScheduleView extends Omit<ScheduleRow, 'decidedUntil' | 'createdAt' | 'updatedAt'> {
  /** Name of its spider; null when that is gone. */
  spider: string | null
  /** What the expression says, in the reader's language; null where that is beyond words. */
  reading: string | null
  /** The next five fires; none while it is stopped. */
  next: number[]
  /** The newest time it was due. */
  last: FireView | null
}

export interface FireView {
  id: number
  fireAt: number
  kind: (typeof fires.$inferSelect)['kind']
  reason: string | null
  runId: number | null
  /** State of that run. */
  runState: (typeof runs.$inferSelect)['state'] | null
}

export const LANGUAGES = ['en', 'zh-CN'] as const
export type Language = (typeof LANGUAGES)[number]

/** A cron expression in words; null for what the library of words does not know, which may still be a good expression. */
export function readCron(cron: string, language: Language): string | null {
  try {
    return cronstrue.toString(cron, {
      locale: language.replace('-', '_'),
      use24HourTimeFormat: true,
      verbose: true,
    })
  } catch {
    return null
  }
}

/** Schedules by name, `limit` at a time, and how many match in all. */
export async function viewSchedules(
  services: Services,
  filter: ScheduleFilter,
  page: { after?: ScheduleCursor | undefined; limit: number },
  language: Language,
): Promise<{
  schedules: ScheduleView[]
  next: ScheduleCursor | null
  total: { enabled: number; stopped: number }
}> {
  const [rows, total] = await Promise.all([
    listSchedules(services, filter, { after: page.after, limit: page.limit + 1 }),
    countSchedules(services, filter),
  ])
  const shown = rows.slice(0, page.limit)
  const last = shown.at(-1)
  return {
    schedules: await views(services, shown, language),
    next: rows.length > page.limit && last ? { name: last.name, id: last.id } : null,
    total,
  }
}

/** One schedule, or null when there is none of that id. */
export async function viewSchedule(
  services: Services,
  id: number,
  language: Language,
): Promise<ScheduleView | null> {
  const [view] = await views(services, await listSchedules(services, { id }), language)
  return view ?? null
}

async function views(
  services: Services,
  rows: Awaited<ReturnType<typeof listSchedules>>,
  language: Language,
): Promise<ScheduleView[]> {
  const newest = rows.length > 0 ? await newestFires(services, rows) : []
  return rows.map(({ decidedUntil: _, createdAt: __, updatedAt: ___, next, ...row }) => ({
    ...row,
    next: next.map((time) => time.getTime()),
    reading: readCron(row.cron, language),
    last: newest.find((fire) => fire.scheduleId === row.id) ?? null,
  }))
}

async function newestFires(services: Services, rows: { id: number }[]) {
  const latest = services.database.orm
    .select({ scheduleId: fires.scheduleId, at: sql<Date>`max(${fires.fireAt})`.as('at') })
    .from(fires)
    .where(
      inArray(
        fires.scheduleId,
        rows.map((row) => row.id),
      ),
    )
    .groupBy(fires.scheduleId)
    .as('latest')
  const found = await services.database.orm
    .select({
      scheduleId: fires.scheduleId,
      id: fires.id,
      fireAt: fires.fireAt,
      kind: fires.kind,
      reason: fires.reason,
      runId: fires.runId,
      runState: runs.state,
    })
    .from(fires)
    .innerJoin(latest, sql`${fires.scheduleId} = ${latest.scheduleId} and ${fires.fireAt} = ${latest.at}`)
    .leftJoin(runs, eq(runs.id, fires.runId))
  return found.map((fire) => ({ ...fire, fireAt: fire.fireAt.getTime() }))
}

/** What became of each time a schedule was due, newest first; `before` is the time of the last one seen. */
export async function viewFires(
  services: Services,
  { schedule, before, limit }: { schedule: number; before?: number | undefined; limit: number },
): Promise<{ fires: FireView[]; next: number | null }> {
  const seen = before === undefined ? undefined : new Date(before)
  const rows = await listFires(services, schedule, seen, limit + 1)
  const ids = rows.flatMap((row) => row.runId ?? [])
  const states =
    ids.length > 0
      ? await services.database.orm
          .select({ id: runs.id, state: runs.state })
          .from(runs)
          .where(inArray(runs.id, ids))
      : []
  const shown = rows.slice(0, limit).map(({ id, fireAt, kind, reason, runId }) => ({
    id,
    fireAt: fireAt.getTime(),
    kind,
    reason,
    runId,
    runState: states.find((run) => run.id === runId)?.state ?? null,
  }))
  return { fires: shown, next: rows.length > limit ? shown.at(-1)!.fireAt : null }
}

/** What an expression means before it is saved. @throws UserError for a wrong expression or zone. */
export function previewSchedule(
  cron: string,
  zone: string,
  count: number,
  language: Language,
): { reading: string | null; fires: number[] } {
  const found = previewFires(cron, zone, count)
  return { reading: readCron(cron, language), fires: found.map((time) => time.getTime()) }
}

/** Spiders that can be offered in one list. */
const MOST_SPIDERS = 1000

/** What the form of a schedule offers: spiders, queues, zones and the zone taken when none is named. */
export async function scheduleChoices(services: Services) {
  const [found, queues] = await Promise.all([
    services.database.orm
      .select({ id: spiders.id, name: spiders.name })
      .from(spiders)
      .orderBy(asc(spiders.name))
      .limit(MOST_SPIDERS),
    listQueues(services),
  ])
  return {
    spiders: found,
    queues: queues.map((queue) => queue.name),
    zones: ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')],
    zone: env().TZ,
    queue: env().QUEUE_KEY,
  }
}
