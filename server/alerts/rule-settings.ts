import { z } from 'zod'
import { UserError } from '../../core/errors'
import { inTransaction } from '../../drizzle/database'
import { alertRules } from '../../drizzle/schema/alerts'
import type { Services } from '../context'
import { change } from '../db'
import { type Action, type Actor, recordChange } from '../services/audit-log'
import type { RuleSettings } from './rule'
import { RULE_KINDS, RULES, type RuleKind } from './rules'

export interface SetRule extends RuleSettings {
  kind: RuleKind
  enabled: boolean
  /** Ids of channels; null: all that are switched on. */
  channels: number[] | null
  silentUntil: Date | null
}

/** Every rule as it stands: its defaults, with what somebody changed. */
export async function readRules(s: Services): Promise<SetRule[]> {
  const rows = await s.database.orm.select().from(alertRules)
  return RULE_KINDS.map((kind) => {
    const row = rows.find((one) => one.kind === kind)
    if (!row) return { kind, enabled: true, channels: null, silentUntil: null, ...RULES[kind].defaults }
    const { updatedAt: _, ...set } = row
    return { ...set, kind }
  })
}

const DAY_MINUTES = 1440
export const ruleSchema = z.strictObject({
  kind: z.enum(RULE_KINDS),
  enabled: z.boolean(),
  threshold: z.number().min(0).max(1e12),
  windowMinutes: z
    .number()
    .int()
    .min(1)
    .max(7 * DAY_MINUTES),
  holdMinutes: z.number().int().min(0).max(DAY_MINUTES),
  channels: z.array(z.number().int().positive()).max(100).nullable(),
})
export type RuleInput = z.infer<typeof ruleSchema>

/** Changes a rule; its silence stays. @throws UserError for a share above 1. */
export async function saveRule(s: Services, input: RuleInput, actor: Actor): Promise<void> {
  const { kind, ...rule } = input
  if (RULES[kind].unit === 'ratio' && rule.threshold > 1)
    throw new UserError(
      `The threshold of this rule is a share; give a number from 0 to 1 (not ${rule.threshold}).`,
    )
  await store(s, { ...(await ruleOf(s, kind)), ...rule }, actor, 'alert.rule')
}

/** Nothing is sent for the rule until then; null ends the silence. */
export async function silenceRule(
  s: Services,
  kind: RuleKind,
  until: Date | null,
  actor: Actor,
): Promise<void> {
  await store(s, { ...(await ruleOf(s, kind)), silentUntil: until }, actor, 'alert.silence')
}

const ruleOf = async (s: Services, kind: RuleKind) => (await readRules(s)).find((one) => one.kind === kind)!

async function store(s: Services, rule: SetRule, actor: Actor, action: Action): Promise<void> {
  const { kind, enabled, threshold, windowMinutes, holdMinutes, channels, silentUntil } = rule
  const columns = {
    enabled,
    threshold,
    window_minutes: windowMinutes,
    hold_minutes: holdMinutes,
    channels: JSON.stringify(channels),
    silent_until: silentUntil,
  }
  await inTransaction(s.database.pool, async (connection) => {
    await change(
      connection,
      'INSERT INTO alert_rules SET kind = ?, ?, updated_at = UTC_TIMESTAMP(3) ON DUPLICATE KEY UPDATE ?, updated_at = UTC_TIMESTAMP(3)',
      [kind, columns, columns],
    )
    await recordChange(connection, actor, action, kind, rule)
  })
}
