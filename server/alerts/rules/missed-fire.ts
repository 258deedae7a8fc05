import { and, count, eq, gte, max } from 'drizzle-orm'
import { fires, schedules } from '../../../drizzle/schema/crawl'
import { type Rule, windowStart } from '../rule'

/** Times at which a schedule was due and no scheduler was there. */
export const missedFire: Rule = {
  unit: 'count',
  wrong: 'reached',
  windowed: true,
  defaults: { threshold: 1, windowMinutes: 60, holdMinutes: 0 },
  async look(services, at, settings) {
    const missed = await services.database.orm
      .select({ id: schedules.id, name: schedules.name, n: count(), last: max(fires.fireAt) })
      .from(fires)
      .innerJoin(schedules, eq(schedules.id, fires.scheduleId))
      .where(and(eq(fires.kind, 'missed'), gte(fires.createdAt, windowStart(at, settings))))
      .groupBy(schedules.id, schedules.name)
    return missed.map(({ id, name, n, last }) => ({
      subject: `schedule:${id}`,
      figure: n,
      facts: { schedule: name, last: last?.toISOString() ?? '' },
    }))
  },
}
