import { and, desc, gte, inArray } from 'drizzle-orm'
import { workerEvents } from '../../../drizzle/schema/fleet'
import type { Services } from '../../context'
import { countRestarts } from '../../services/figures'
import { type Rule, type RuleSettings, windowStart } from '../rule'

/** Restarts of workers, for whatever reason: the overview's figure. */
export const restarts: Rule = {
  unit: 'count',
  wrong: 'reached',
  windowed: true,
  defaults: { threshold: 5, windowMinutes: 60, holdMinutes: 0 },
  async look(services, at, settings) {
    const { restarts, outOfMemory } = await countRestarts(services, windowStart(at, settings))
    const last = await lastReason(services, at, settings, ['restart', 'lost', 'oom'])
    return [{ subject: 'all', figure: restarts, facts: { outOfMemory, last } }]
  },
}

/** Workers that ended for lack of memory: the overview's figure. */
export const outOfMemory: Rule = {
  unit: 'count',
  wrong: 'reached',
  windowed: true,
  defaults: { threshold: 1, windowMinutes: 60, holdMinutes: 0 },
  async look(services, at, settings) {
    const { outOfMemory } = await countRestarts(services, windowStart(at, settings))
    const last = await lastReason(services, at, settings, ['oom'])
    return [{ subject: 'all', figure: outOfMemory, facts: { last } }]
  },
}

/** Which worker was the last, and why, in the words of whoever noticed. */
async function lastReason(
  services: Services,
  at: Date,
  settings: RuleSettings,
  kinds: ('restart' | 'lost' | 'oom')[],
): Promise<string> {
  const [event] = await services.database.orm
    .select({ worker: workerEvents.workerId, detail: workerEvents.detail })
    .from(workerEvents)
    .where(and(inArray(workerEvents.kind, kinds), gte(workerEvents.at, windowStart(at, settings))))
    .orderBy(desc(workerEvents.id))
    .limit(1)
  // The detail may end with the last lines of a log; the first line is the reason.
  return event ? `${event.worker} (${event.detail?.split('\n')[0] ?? ''})` : ''
}
