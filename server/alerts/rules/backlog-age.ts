import { and, asc, eq, gte } from 'drizzle-orm'
import { samples } from '../../../drizzle/schema/fleet'
import type { Services } from '../../context'
import { listQueues } from '../../services/queues'
import { MINUTE_MS, type Rule } from '../rule'

/** How far back samples are looked at: what is older counts as this old. */
const LOOK_BACK_MINUTES = 3 * 24 * 60

/**
 * Minutes for which the URL that is next has waited, if URLs are taken in the order they came. A paused queue waits by intent.
 */
export const backlogAge: Rule = {
  unit: 'minutes',
  wrong: 'reached',
  windowed: false,
  defaults: { threshold: 120, windowMinutes: 60, holdMinutes: 5 },
  async look(services, at) {
    const open = (await listQueues(services)).filter(({ paused, draining }) => !paused && !draining)
    const findings = await Promise.all(
      open.map(async ({ name }) => {
        const age = await ageOf(services, name, at)
        return (
          age && {
            subject: `queue:${name}`,
            figure: age.minutes,
            facts: { queue: name, waiting: age.waiting },
          }
        )
      }),
    )
    return findings.filter((one) => one !== null)
  },
}

/**
 * Every URL that ever came is one that ended, runs or waits; so by the time that so many had come as have ended or run now, the
 * next one had not come yet. Since cancelled URLs left without ending, a moment at which nothing waited counts as well.
 */
async function ageOf(
  services: Services,
  queue: string,
  at: Date,
): Promise<{ minutes: number; waiting: number } | null> {
  const now = await services.queue(queue).lengths()
  const waiting = now.inbox + now.pending + now.retry
  if (waiting === 0) return null
  const ended = (totals: { done: number; failed: number; ignored: number }) =>
    totals.done + totals.failed + totals.ignored
  const gone = ended(now.totals) + now.running
  const lines = await services.database.orm
    .select()
    .from(samples)
    .where(
      and(eq(samples.queue, queue), gte(samples.at, new Date(at.getTime() - LOOK_BACK_MINUTES * MINUTE_MS))),
    )
    .orderBy(asc(samples.at))
  let since = at.getTime()
  for (const line of lines.toReversed()) {
    const waited = line.inbox + line.pending + line.retry
    const come =
      ended({ done: line.doneTotal, failed: line.failedTotal, ignored: line.ignoredTotal }) +
      line.running +
      waited
    if (waited === 0 || come <= gone) break
    since = line.at.getTime()
  }
  return { minutes: Math.max(0, Math.floor((at.getTime() - since) / MINUTE_MS)), waiting }
}
