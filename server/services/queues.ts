import { asc, eq } from 'drizzle-orm'
import { z } from 'zod'
import { env } from '../../core/env'
import { sentence, Unavailable, UserError } from '../../core/errors'
import { PROXY_ROTATIONS } from '../../core/proxy-address'
import type { QuietHours } from '../../core/quiet-hours'
import { isZone } from '../../core/time-zone'
import { inTransaction } from '../../drizzle/database'
import { queues } from '../../drizzle/schema/crawl'
import type { Services } from '../context'
import { change, select } from '../db'
import { type Action, type Actor, recordChange } from './audit-log'
import { currentEpoch } from './epoch'

export type QueueRow = typeof queues.$inferSelect

const timeOfDay = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'is not a time of day; write one such as 22:30')

export const quietHoursSchema: z.ZodType<QuietHours, QuietHours> = z
  .strictObject({
    from: timeOfDay,
    to: timeOfDay,
    zone: z.string().refine(isZone, { message: 'is not an IANA time zone; write one such as Asia/Shanghai' }),
  })
  .refine(({ from, to }) => from !== to, { path: ['to'], message: 'must not be equal to from' })

const settings = z.strictObject({
  /** Milliseconds between two fetch starts on one host. */
  delayMs: z.number().int().min(0).max(86_400_000).optional(),
  perHost: z.number().int().min(1).max(1000).optional(),
  concurrency: z.number().int().min(1).max(1000).optional(),
  maxRunning: z.number().int().min(1).max(1_000_000).nullable().optional(),
  adaptive: z.boolean().optional(),
  quiet: quietHoursSchema.nullable().optional(),
  proxies: z.enum(PROXY_ROTATIONS).optional(),
  addressDelayMs: z.number().int().min(1).max(86_400_000).nullable().optional(),
})
export type QueuePatch = z.input<typeof settings>

const queueName = z.string().regex(/^[\w.:{}-]{1,64}$/, 'must be 1–64 letters, digits, or one of _ . : { } -')

const COLUMN = {
  delayMs: 'delay_ms',
  perHost: 'per_host',
  concurrency: 'concurrency',
  maxRunning: 'max_running',
  paused: 'paused',
  draining: 'draining',
  heldBy: 'held_by',
  adaptive: 'adaptive',
  quiet: 'quiet',
  proxies: 'proxies',
  addressDelayMs: 'address_delay_ms',
} as const

/**
 * The queue of that name, made with the defaults of the environment when it is not there. Its settings are then in Redis.
 * @param overrides used only when the queue is made, as is its kind: `render` for one whose pages are all rendered.
 */
export async function ensureQueue(
  s: Services,
  name: string,
  overrides: QueuePatch = {},
  kind: QueueRow['kind'] = 'http',
): Promise<QueueRow> {
  checkName(name)
  const known = await findQueue(s, name)
  if (known) return known
  const given = check(overrides)
  const { DOWNLOAD_DELAY, CONCURRENT_REQUESTS, CONCURRENT_REQUESTS_PER_HOST } = env()
  await change(
    s.database.pool,
    'INSERT IGNORE INTO queues (name, kind, delay_ms, per_host, concurrency, max_running, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, UTC_TIMESTAMP(3), UTC_TIMESTAMP(3))',
    [
      name,
      kind,
      given.delayMs ?? Math.round(DOWNLOAD_DELAY * 1000),
      given.perHost ?? Math.max(1, CONCURRENT_REQUESTS_PER_HOST),
      given.concurrency ?? Math.max(1, CONCURRENT_REQUESTS),
      given.maxRunning ?? null,
    ],
  )
  const row = await getQueue(s, name)
  await pushSettings(s, row)
  await s.queue(name).setEpoch((await currentEpoch(s)).epoch)
  return row
}

/** Changes live settings; running workers obey within 2 s. @throws UserError for a wrong value or an unknown queue. */
export async function configureQueue(
  s: Services,
  name: string,
  patch: QueuePatch,
  actor: Actor,
): Promise<QueueRow> {
  return update(s, name, check(patch), 'queue.configure', actor)
}

/** From now on no page of the queue is begun; those under way end. Survives restarts of everything. */
export async function pauseQueue(s: Services, name: string, actor: Actor): Promise<QueueRow> {
  return update(s, name, { paused: true, draining: false, heldBy: null }, 'queue.pause', actor)
}

/**
 * From now on the inbox is left alone and runs that have not begun wait; what is in the queue, and the links of its pages, are
 * worked off. Survives restarts of everything, and ends with `resumeQueue`.
 */
export async function drainQueue(s: Services, name: string, actor: Actor): Promise<QueueRow> {
  return update(s, name, { paused: false, draining: true, heldBy: null }, 'queue.drain', actor)
}

export async function resumeQueue(s: Services, name: string, actor: Actor): Promise<QueueRow> {
  return update(s, name, { paused: false, draining: false, heldBy: null }, 'queue.resume', actor)
}

/** Pauses a queue for a sink that has too much to take yet; a queue that drains goes on draining when it is released. */
export async function holdQueue(s: Services, name: string, sink: string): Promise<QueueRow> {
  return update(s, name, { paused: true, heldBy: sink }, 'queue.pause', `sink ${sink}`)
}

export async function releaseQueue(s: Services, name: string, sink: string): Promise<QueueRow> {
  return update(s, name, { paused: false, heldBy: null }, 'queue.resume', `sink ${sink}`)
}

export async function listQueues(s: Services): Promise<QueueRow[]> {
  return s.database.orm.select().from(queues).orderBy(asc(queues.name))
}

/** A queue's settings and its lengths of this instant. */
export async function queueStatus(s: Services, name: string) {
  const row = await getQueue(s, name)
  return { settings: row, lengths: await s.queue(name).lengths() }
}

/** Gives Redis its copy of the settings, which claims obey. Repeats change nothing. */
export async function pushSettings(s: Services, row: QueueRow): Promise<void> {
  const { delayMs, perHost, concurrency, maxRunning, paused, draining, ...more } = row
  const { adaptive, quiet, proxies, addressDelayMs } = more
  await s.queue(row.name).configure({
    ...{ delayMs, perHost, concurrency, maxRunning, paused, draining },
    ...{ adaptive, quiet, proxies, addressDelayMs },
  })
}

async function update(
  s: Services,
  name: string,
  patch: z.output<typeof settings> & { paused?: boolean; draining?: boolean; heldBy?: string | null },
  action: Action,
  actor: Actor,
): Promise<QueueRow> {
  const changes = Object.entries(patch).filter(([, value]) => value !== undefined)
  await inTransaction(s.database.pool, async (connection) => {
    const [row] = await select(connection, 'SELECT name FROM queues WHERE name = ? FOR UPDATE', [name])
    if (!row) throw unknown(name)
    const assignments = changes.map(([key]) => `${COLUMN[key as keyof typeof COLUMN]} = ?`)
    await change(
      connection,
      `UPDATE queues SET ${[...assignments, 'version = version + 1', 'updated_at = UTC_TIMESTAMP(3)'].join(', ')} WHERE name = ?`,
      [...changes.map(([key, value]) => (key === 'quiet' && value ? JSON.stringify(value) : value)), name],
    )
    await recordChange(connection, actor, action, name, Object.fromEntries(changes))
  })
  const row = await getQueue(s, name)
  await pushSettings(s, row).catch((error: unknown) => {
    if (!(error instanceof Unavailable)) throw error
    s.log.warn(
      { queue: name, cause: sentence(error) },
      'the settings are on record; the scheduler brings them to Redis once it is back',
    )
  })
  return row
}

/** @throws UserError when there is none. */
export async function getQueue(s: Services, name: string): Promise<QueueRow> {
  const row = await findQueue(s, name)
  if (!row) throw unknown(name)
  return row
}

async function findQueue(s: Services, name: string): Promise<QueueRow | undefined> {
  const [row] = await s.database.orm.select().from(queues).where(eq(queues.name, name))
  return row
}

function checkName(name: string): void {
  const result = queueName.safeParse(name)
  if (!result.success)
    throw new UserError(`The queue name "${name}" is not usable: it ${result.error.issues[0]!.message}.`, {
      code: 'queue_name',
      values: { queue: name },
    })
}

function check(patch: QueuePatch): z.output<typeof settings> {
  const result = settings.safeParse(patch)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw new UserError(`The queue setting ${issue!.path.join('.')} is not usable: ${issue!.message}.`)
}

const unknown = (name: string) =>
  new UserError(`There is no queue "${name}"; name one that the list of queues shows, or make it first.`, {
    code: 'queue_unknown',
    values: { queue: name },
  })
