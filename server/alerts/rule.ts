import type { Services } from '../context'

/** What a rule saw of one subject at one look, whether or not that is too much. */
export interface Finding {
  /** `queue:NAME`, `worker:ID`, `schedule:ID`, `run:ID`, `sink:NAME`, `redis`, or `all`. */
  subject: string
  figure: number
  /** What belongs to the figure, as the message says it. */
  facts: Record<string, string | number>
}

export interface RuleSettings {
  /** In the unit of the figure. */
  threshold: number
  /** How far back the figure looks. */
  windowMinutes: number
  /** How long the figure must be beyond the threshold, or back within it, before that is told. */
  holdMinutes: number
}

/** The unit of a figure: 0–1, a number of things, or minutes. */
type Unit = 'ratio' | 'count' | 'minutes'

export interface Rule {
  unit: Unit
  /** `below`: a figure under the threshold is wrong; `reached`: one that has reached it. */
  wrong: 'below' | 'reached'
  /** Whether the figure looks back over a time that can be set. */
  windowed: boolean
  defaults: RuleSettings
  /** @param at the instant of the look, by the database's clock. */
  look(services: Services, at: Date, settings: RuleSettings): Promise<Finding[]>
}

export const isWrong = (rule: Rule, figure: number, threshold: number) =>
  rule.wrong === 'below' ? figure < threshold : figure >= threshold

export const MINUTE_MS = 60_000
export const windowStart = (at: Date, { windowMinutes }: RuleSettings) =>
  new Date(at.getTime() - windowMinutes * MINUTE_MS)

/** `a.example (12), b.example (3)`. */
export const counted = (list: { count: number; name: string }[]) =>
  list.map(({ name, count }) => `${name} (${count})`).join(', ')
