import type { AlertFigures } from '../../core/alert-text'
import { change, type Sql, select } from '../db'

/** What a message tells, without words: these are put in when it is sent, in the language of its channel. */
export interface AlertMessage extends AlertFigures {
  event: 'firing' | 'resolved' | 'test'
  alert: number | null
  /** ms since 1970. */
  startedAt: number
  endedAt: number | null
}

interface AlertRow extends Omit<AlertMessage, 'event' | 'alert' | 'facts' | 'startedAt' | 'endedAt'> {
  facts: string
  startedAt: Date
  endedAt: Date | null
}

/**
 * Writes the messages of an alert's change, one a channel, on the connection of the change itself. A message that is there
 * already stays as it is. That an alert is over is told to those who were told of it.
 * @param channels ids; null: all that are switched on.
 */
export async function announce(
  on: Sql,
  alert: number,
  event: 'firing' | 'resolved',
  channels: number[] | null,
): Promise<void> {
  const [row] = await select<AlertRow>(
    on,
    'SELECT rule, subject, figure, threshold, window_minutes AS windowMinutes, facts, started_at AS startedAt, ended_at AS endedAt FROM alerts WHERE id = ?',
    [alert],
  )
  const known =
    event === 'firing'
      ? await select<{ id: number }>(on, 'SELECT id FROM alert_channels WHERE enabled')
      : await select<{ id: number }>(
          on,
          "SELECT channel_id AS id FROM alert_deliveries WHERE alert_id = ? AND event = 'firing' AND channel_id IN (SELECT id FROM alert_channels WHERE enabled)",
          [alert],
        )
  const wanted = known.filter(({ id }) => event === 'resolved' || channels === null || channels.includes(id))
  const message: AlertMessage = {
    ...row!,
    event,
    alert,
    facts: JSON.parse(row!.facts),
    startedAt: row!.startedAt.getTime(),
    endedAt: row!.endedAt?.getTime() ?? null,
  }
  for (const { id } of wanted)
    await change(
      on,
      "INSERT IGNORE INTO alert_deliveries (delivery_key, alert_id, event, channel_id, state, message, next_at, tries, created_at) VALUES (?, ?, ?, ?, 'waiting', ?, UTC_TIMESTAMP(3), '[]', UTC_TIMESTAMP(3))",
      [`${alert}:${event}:${id}`, alert, event, id, JSON.stringify(message)],
    )
}
