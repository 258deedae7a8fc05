import { readGrowth } from '../../services/insights'
import type { Rule } from '../rule'

/** URLs by which a queue's backlog grew, minute after minute: what the overview suggests more workers for. */
export const backlogGrowth: Rule = {
  unit: 'count',
  wrong: 'reached',
  windowed: true,
  defaults: { threshold: 1000, windowMinutes: 5, holdMinutes: 2 },
  async look(services, _at, { windowMinutes }) {
    const grown = await readGrowth(services, windowMinutes)
    return grown.map(({ queue, from, to, workers }) => ({
      subject: `queue:${queue}`,
      figure: to - from,
      facts: { queue, from, to, workers },
    }))
  },
}
