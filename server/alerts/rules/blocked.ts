import { summarise } from '../../services/failure-summary'
import { recentFailures } from '../../services/insights'
import { counted, type Rule, windowStart } from '../rule'

/** Pages that were refused by an anti-bot answer, with their hosts. */
export const blocked: Rule = {
  unit: 'count',
  wrong: 'reached',
  windowed: true,
  defaults: { threshold: 20, windowMinutes: 60, holdMinutes: 0 },
  async look(services, at, settings) {
    const found = summarise(
      await recentFailures(services, windowStart(at, settings), ['blocked_403', 'blocked_challenge']),
    )
    const hosts = counted(found.hosts.map(({ host, count }) => ({ name: host, count })))
    return [{ subject: 'all', figure: found.total, facts: { hosts } }]
  },
}
