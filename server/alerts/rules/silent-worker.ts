import { gte, inArray, max, or } from 'drizzle-orm'
import { workers } from '../../../drizzle/schema/fleet'
import { listQueues } from '../../services/queues'
import { type Finding, MINUTE_MS, type Rule, windowStart } from '../rule'

/** Minutes without a word of a worker that did not say it would stop, or of any worker of a queue in which URLs wait. */
export const silentWorker: Rule = {
  unit: 'minutes',
  wrong: 'reached',
  windowed: true,
  defaults: { threshold: 2, windowMinutes: 60, holdMinutes: 0 },
  async look(services, at, settings) {
    const { orm } = services.database
    const since = (heard: Date) => Math.floor((at.getTime() - heard.getTime()) / MINUTE_MS)
    const silent = await orm
      .select({
        id: workers.id,
        queue: workers.queue,
        state: workers.state,
        heartbeatAt: workers.heartbeatAt,
      })
      .from(workers)
      .where(
        or(
          inArray(workers.state, ['running', 'draining']),
          gte(workers.heartbeatAt, windowStart(at, settings)),
        ),
      )
      .orderBy(workers.heartbeatAt)
    const findings: Finding[] = silent
      // One that was lost long ago has been told of; nobody waits for it any more.
      .filter(({ state, heartbeatAt }) => state !== 'stopped' && heartbeatAt >= windowStart(at, settings))
      .map(({ id, queue, heartbeatAt }) => ({
        subject: `worker:${id}`,
        figure: since(heartbeatAt),
        facts: { worker: id, queue },
      }))
    const heard = await orm
      .select({ queue: workers.queue, at: max(workers.heartbeatAt) })
      .from(workers)
      .groupBy(workers.queue)
    for (const { name, paused, createdAt } of await listQueues(services)) {
      if (paused) continue
      const { inbox, pending } = await services.queue(name).lengths()
      if (inbox + pending === 0) continue
      const last = heard.find((one) => one.queue === name)?.at ?? createdAt
      findings.push({
        subject: `queue:${name}`,
        figure: since(last),
        facts: { worker: '', queue: name, waiting: inbox + pending },
      })
    }
    return findings
  },
}
