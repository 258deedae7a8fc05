import { evaluateRule } from '../alerts/evaluate'
import { readRules } from '../alerts/rule-settings'
import type { Services } from '../context'
import { databaseNow } from '../services/schedules'
import { oneByOne } from './one-by-one'

/** Looks at what each rule watches. @param at the instant of the look; the tests give their own. */
export async function evaluateAlerts(s: Services, still: () => boolean, at?: Date): Promise<void> {
  const now = at ?? (await databaseNow(s))
  await oneByOne(
    s,
    await readRules(s),
    still,
    ({ kind }) => ({ rule: kind }),
    (rule) => evaluateRule(s, rule, now),
  )
}
