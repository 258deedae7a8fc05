import { and, desc, gte, inArray, or } from 'drizzle-orm'
import { runs } from '../../../drizzle/schema/crawl'
import { runStatus } from '../../services/runs'
import { type Finding, type Rule, windowStart } from '../rule'

/** Runs that are looked at: a bound on what one look costs. */
const RUNS = 50

/** Failed URLs of each run that goes on, or has ended lately. */
export const failedUrls: Rule = {
  unit: 'count',
  wrong: 'reached',
  windowed: true,
  defaults: { threshold: 100, windowMinutes: 60, holdMinutes: 0 },
  async look(services, at, settings) {
    const recent = await services.database.orm
      .select({ id: runs.id })
      .from(runs)
      .where(
        or(
          inArray(runs.state, ['running', 'cancelling']),
          and(
            inArray(runs.state, ['finished', 'cancelled']),
            gte(runs.finishedAt, windowStart(at, settings)),
          ),
        ),
      )
      .orderBy(desc(runs.id))
      .limit(RUNS)
    const findings: Finding[] = []
    for (const { id } of recent) {
      const { counts } = await runStatus(services, id)
      const ended = counts.done + counts.failed
      findings.push({ subject: `run:${id}`, figure: counts.failed, facts: { run: String(id), ended } })
    }
    return findings
  },
}
