import { and, desc, eq, lt, ne } from 'drizzle-orm'
import { alertChannels, alertDeliveries, alerts } from '../../drizzle/schema/alerts'
import type { AlertMessage } from '../alerts/announce'
import { readRules } from '../alerts/rule-settings'
import { RULES } from '../alerts/rules'
import type { Services } from '../context'

type AlertRow = typeof alerts.$inferSelect

/** An alert as the console shows it. Times are ms since 1970. */
function viewAlert(row: AlertRow) {
  const { id, rule, subject, state, figure, threshold, windowMinutes, facts } = row
  return {
    id,
    rule,
    subject,
    state,
    figure,
    threshold,
    windowMinutes,
    facts,
    startedAt: row.startedAt.getTime(),
    endedAt: row.endedAt?.getTime() ?? null,
  }
}

/** What fires now, newest first: at most a hundred. */
export async function viewFiring(services: Services) {
  const rows = await services.database.orm
    .select()
    .from(alerts)
    .where(eq(alerts.state, 'firing'))
    .orderBy(desc(alerts.id))
    .limit(100)
  return rows.map(viewAlert)
}

/** Alerts that were told, newest first, `limit` at a time: `before` is the id of the last one seen. */
export async function viewHistory(services: Services, before: number | undefined, limit: number) {
  const rows = await services.database.orm
    .select()
    .from(alerts)
    .where(and(ne(alerts.state, 'pending'), before === undefined ? undefined : lt(alerts.id, before)))
    .orderBy(desc(alerts.id))
    .limit(limit + 1)
  const shown = rows.slice(0, limit)
  return { alerts: shown.map(viewAlert), next: rows.length > limit ? shown.at(-1)!.id : null }
}

/** Every rule with what it measures. */
export async function viewRules(services: Services) {
  return (await readRules(services)).map(({ silentUntil, ...rule }) => ({
    ...rule,
    silentUntil: silentUntil?.getTime() ?? null,
    unit: RULES[rule.kind].unit,
    windowed: RULES[rule.kind].windowed,
  }))
}

/** Messages, newest first, each with its tries: `before` is the id of the last one seen. */
export async function viewDeliveries(services: Services, before: number | undefined, limit: number) {
  const rows = await services.database.orm
    .select({ delivery: alertDeliveries, channel: alertChannels.name })
    .from(alertDeliveries)
    .leftJoin(alertChannels, eq(alertChannels.id, alertDeliveries.channelId))
    .where(before === undefined ? undefined : lt(alertDeliveries.id, before))
    .orderBy(desc(alertDeliveries.id))
    .limit(limit + 1)
  const shown = rows.slice(0, limit)
  return {
    deliveries: shown.map(({ delivery, channel }) => ({
      id: delivery.id,
      alertId: delivery.alertId,
      /** Both empty for a test. */
      ...toldOf(delivery.message),
      event: delivery.event,
      /** Null when the channel is gone. */
      channel,
      state: delivery.state,
      attempts: delivery.attempts,
      nextAt: delivery.nextAt.getTime(),
      tries: delivery.tries,
      createdAt: delivery.createdAt.getTime(),
    })),
    next: rows.length > limit ? shown.at(-1)!.delivery.id : null,
  }
}

function toldOf(message: unknown): { rule: string; subject: string } {
  const { event, rule, subject } = message as AlertMessage
  return event === 'test' ? { rule: '', subject: '' } : { rule, subject }
}
