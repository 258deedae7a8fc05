import { summarise } from '../../services/failure-summary'
import { outcomesSince, readBaseline } from '../../services/figures'
import { recentFailures } from '../../services/insights'
import { counted, MINUTE_MS, type Rule, windowStart } from '../rule'

/** Of fewer pages a rate says nothing. */
const LEAST = 20

/** Done ÷ (done + failed) of all queues: the overview's figure. */
export const successRate: Rule = {
  unit: 'ratio',
  wrong: 'below',
  windowed: true,
  defaults: { threshold: 0.95, windowMinutes: 60, holdMinutes: 5 },
  async look(services, at, settings) {
    const baseline = await readBaseline(services, at.getTime(), settings.windowMinutes * MINUTE_MS)
    const now = await Promise.all(
      baseline.names.map(async (name) => ({ name, totals: (await services.queue(name).lengths()).totals })),
    )
    const { done, failed, successRate } = outcomesSince(baseline, now)
    if (successRate === null || done + failed < LEAST) return []
    const facts = { failed, ended: done + failed, hosts: '', reasons: '' }
    if (successRate < settings.threshold) {
      const behind = summarise(await recentFailures(services, windowStart(at, settings)))
      facts.hosts = counted(behind.hosts.map(({ host, count }) => ({ name: host, count })))
      facts.reasons = counted(behind.reasons.map(({ reason, count }) => ({ name: reason, count })))
    }
    return [{ subject: 'all', figure: successRate, facts }]
  },
}
