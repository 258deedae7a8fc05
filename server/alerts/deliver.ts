import { sentence, UserError } from '../../core/errors'
import { isAway } from '../../drizzle/database'
import type { DeliveryTry } from '../../drizzle/schema/alerts'
import type { Services } from '../context'
import { change, select } from '../db'
import { type Actor, recordChange } from '../services/audit-log'
import type { AlertMessage } from './announce'
import { openChannel } from './channel-settings'
import { writeLetter } from './letter'
import { type Sent, send } from './send'

/** Messages that one turn takes. */
const AT_ONCE = 50
/** Seconds that a message belongs to whoever sends it; then it counts as lost and is sent again. Longer than a try takes. */
const LEASE_SECONDS = 60
/** Tries before a message is a dead letter: with the waits between them about an hour and a half. */
export const MOST_TRIES = 10
/** Tries that the log keeps of each message. */
const KEPT_TRIES = 10

/** Seconds to wait after so many tries, each wait twice as long as the one before, and up to a quarter off. */
export const waitSeconds = (tries: number) => Math.min(3600, 10 * 2 ** (tries - 1)) * (1 - Math.random() / 4)

interface Due {
  id: number
  deliveryKey: string
  channelId: number
  event: AlertMessage['event']
  attempts: number
  message: string
  tries: string
}

const COLUMNS = 'id, delivery_key AS deliveryKey, channel_id AS channelId, event, attempts, message, tries'
const IS_DUE = "state IN ('waiting', 'sending') AND next_at <= UTC_TIMESTAMP(3)"

/**
 * Sends what is due, the oldest first. Channels don't wait for each other; within one the order is kept, and a channel that
 * takes nothing gets no further message in this turn. At least once: who ends between sending and writing that down leaves a
 * message that is sent again, under the same key.
 */
export async function deliver(s: Services, still: () => boolean): Promise<void> {
  const due = await select<Due>(
    s.database.pool,
    `SELECT ${COLUMNS} FROM alert_deliveries WHERE ${IS_DUE} ORDER BY id LIMIT ${AT_ONCE}`,
  )
  const channels = new Map<number, Due[]>()
  for (const one of due) channels.set(one.channelId, [...(channels.get(one.channelId) ?? []), one])
  await Promise.all(
    [...channels.values()].map(async (messages) => {
      for (const message of messages) if (!still() || !(await deliverOne(s, message))) return
    }),
  )
}

/** @returns whether the next message of the channel may be tried as well. */
async function deliverOne(s: Services, due: Due): Promise<boolean> {
  const { affectedRows } = await change(
    s.database.pool,
    `UPDATE alert_deliveries SET state = 'sending', attempts = attempts + 1, next_at = UTC_TIMESTAMP(3) + INTERVAL ${LEASE_SECONDS} SECOND WHERE id = ? AND attempts = ? AND ${IS_DUE}`,
    [due.id, due.attempts],
  )
  // Another process has it.
  if (affectedRows === 0) return false
  const sent = await attempt(s, due)
  // A test is a question of now; nobody wants its answer later.
  const last = due.event === 'test' || due.attempts + 1 >= MOST_TRIES
  await record(s, due, sent, last)
  return sent.taken
}

async function attempt(s: Services, due: Due): Promise<Sent> {
  try {
    const channel = await openChannel(s, due.channelId)
    const message = JSON.parse(due.message) as AlertMessage
    const letter = writeLetter({ key: letterKey(due), message }, channel, Date.now())
    return await send(channel.kind, channel.settings, letter)
  } catch (error) {
    if (isAway(error)) throw error
    return { taken: false, answer: sentence(error), ms: 0 }
  }
}

const letterKey = ({ deliveryKey }: Due) => `alert-${deliveryKey.replaceAll(':', '-')}`

async function record(s: Services, due: Due, { taken, answer, ms }: Sent, last: boolean): Promise<void> {
  const tries = [{ at: Date.now(), ms, answer }, ...(JSON.parse(due.tries) as DeliveryTry[])].slice(
    0,
    KEPT_TRIES,
  )
  await change(
    s.database.pool,
    `UPDATE alert_deliveries SET state = ?, tries = ?, sent_at = IF(?, UTC_TIMESTAMP(3), NULL), next_at = UTC_TIMESTAMP(3) + INTERVAL ? * 1000 MICROSECOND WHERE id = ? AND attempts = ? AND state = 'sending'`,
    [
      taken ? 'sent' : last ? 'dead' : 'waiting',
      JSON.stringify(tries),
      taken,
      Math.round(waitSeconds(due.attempts + 1) * 1000),
      due.id,
      due.attempts + 1,
    ],
  )
  if (!taken)
    s.log.warn(
      { delivery: due.id, channel: due.channelId, answer, attempts: due.attempts + 1 },
      last ? 'a message of an alert was given up' : 'a message of an alert was not taken; it is sent again',
    )
}

/** Sends a test to a channel, now. @returns what the other side answered. @throws UserError for an unknown channel. */
export async function testChannel(s: Services, id: number, actor: Actor): Promise<Sent> {
  await openChannel(s, id)
  const message: AlertMessage = {
    event: 'test',
    alert: null,
    rule: '',
    subject: 'all',
    figure: 0,
    threshold: 0,
    windowMinutes: 0,
    facts: {},
    startedAt: Date.now(),
    endedAt: null,
  }
  const key = `test:${crypto.randomUUID()}`
  const { insertId } = await change(
    s.database.pool,
    `INSERT INTO alert_deliveries (delivery_key, event, channel_id, state, message, attempts, next_at, tries, created_at) VALUES (?, 'test', ?, 'sending', ?, 1, UTC_TIMESTAMP(3) + INTERVAL ${LEASE_SECONDS} SECOND, '[]', UTC_TIMESTAMP(3))`,
    [key, id, JSON.stringify(message)],
  )
  await recordChange(s.database.pool, actor, 'alert.channel.test', id)
  const due: Due = {
    id: insertId,
    deliveryKey: key,
    channelId: id,
    event: 'test',
    attempts: 0,
    message: JSON.stringify(message),
    tries: '[]',
  }
  const sent = await attempt(s, due)
  await record(s, due, sent, true)
  return sent
}

/** Sends a message again that was sent or given up, under its own key. @throws UserError for one that is on its way, or unknown. */
export async function replay(s: Services, id: number, actor: Actor): Promise<void> {
  const { affectedRows } = await change(
    s.database.pool,
    "UPDATE alert_deliveries SET state = 'waiting', attempts = 0, next_at = UTC_TIMESTAMP(3) WHERE id = ? AND state IN ('sent', 'dead') AND channel_id IN (SELECT id FROM alert_channels)",
    [id],
  )
  if (affectedRows === 0)
    throw new UserError(
      `Message ${id} can't be sent again: it is on its way, its channel is gone, or there is none of that number; look at the list anew.`,
    )
  await recordChange(s.database.pool, actor, 'alert.replay', id)
}
