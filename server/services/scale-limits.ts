import { z } from 'zod'
import { UserError } from '../../core/errors'
import { inTransaction } from '../../drizzle/database'
import type { Services } from '../context'
import { change, type Sql, select } from '../db'
import { type Actor, recordChange } from './audit-log'

/** What one queue may ask for at all. Beyond it a typing error is likelier than a need. */
export const MOST_WORKERS = 500

const workers = z.number().int().min(0).max(MOST_WORKERS)
const waiting = z.number().int().min(10).max(86_400)
export const limitsSchema = z
  .strictObject({
    /** Fewest and most workers that a request may name. */
    fewest: workers,
    most: workers,
    /** Largest swing of the number within a minute; null for any. */
    perMinute: z.number().int().min(1).max(MOST_WORKERS).nullable(),
    /** Whether the scheduler asks by itself, within the three above. */
    auto: z.boolean(),
    /** Seconds that work must have waited for a worker without a break before there are more. */
    upSeconds: waiting,
    /** Seconds that fewer would have done before there is one less. */
    downSeconds: waiting,
  })
  .refine(({ fewest, most }) => fewest <= most, {
    path: ['most'],
    message: 'must not be smaller than the fewest',
  })
export type ScaleLimits = z.output<typeof limitsSchema>

export const NO_LIMITS: ScaleLimits = {
  fewest: 0,
  most: MOST_WORKERS,
  perMinute: null,
  auto: false,
  upSeconds: 60,
  downSeconds: 300,
}

type Row = ScaleLimits & { queue: string }
const COLUMNS =
  'queue, fewest, most, per_minute AS perMinute, auto, up_seconds AS upSeconds, down_seconds AS downSeconds'

/** The limits of every queue; those that nobody has set are the defaults. */
export async function listScaleLimits(s: Services): Promise<Row[]> {
  const rows = await select<Omit<Row, 'auto'> & { auto: number | null }>(
    s.database.pool,
    `SELECT q.name AS queue, ${COLUMNS.replace('queue, ', '')} FROM queues q LEFT JOIN scale_limits l ON l.queue = q.name ORDER BY q.name`,
  )
  return rows.map((row) =>
    row.auto === null ? { ...NO_LIMITS, queue: row.queue } : { ...row, auto: row.auto === 1 },
  )
}

/** @param on the connection that holds the queue's row, so that limits and request are of one moment. */
export async function limitsOf(on: Sql, queue: string): Promise<ScaleLimits> {
  const [row] = await select<Omit<Row, 'auto'> & { auto: number }>(
    on,
    `SELECT ${COLUMNS} FROM scale_limits WHERE queue = ?`,
    [queue],
  )
  if (!row) return NO_LIMITS
  const { queue: _, auto, ...limits } = row
  return { ...limits, auto: auto === 1 }
}

/** Sets a queue's limits; what was asked for before stays as it is. @throws UserError for an unknown queue or wrong values. */
export async function setScaleLimits(
  s: Services,
  queue: string,
  input: z.input<typeof limitsSchema>,
  actor: Actor,
): Promise<void> {
  const parsed = limitsSchema.safeParse(input)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw new UserError(
      `The limits of the queue ${queue} are not usable: ${issue!.path.join('.')} ${issue!.message}.`,
    )
  }
  await inTransaction(s.database.pool, async (connection) => {
    const [row] = await select(connection, 'SELECT name FROM queues WHERE name = ? FOR UPDATE', [queue])
    if (!row)
      throw new UserError(`There is no queue "${queue}"; the list of queues shows those there are.`, {
        code: 'queue_unknown',
        values: { queue },
      })
    const before = await limitsOf(connection, queue)
    const { fewest, most, perMinute, auto, upSeconds, downSeconds } = parsed.data
    await change(
      connection,
      'REPLACE INTO scale_limits (queue, fewest, most, per_minute, auto, up_seconds, down_seconds, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, UTC_TIMESTAMP(3))',
      [queue, fewest, most, perMinute, auto, upSeconds, downSeconds],
    )
    await recordChange(connection, actor, 'scale.limits', queue, { from: before, to: parsed.data })
  })
}

interface Asked {
  queue: string
  wanted: number
  /** Workers alive now. */
  alive: number
  /** Numbers before and after each request of the last minute. */
  lately: number[]
}

/** @throws UserError when a wanted number is out of the queue's bounds, or swings it further within a minute than it may. */
export function checkLimits(limits: ScaleLimits, { queue, wanted, alive, lately }: Asked): void {
  const { fewest, most, perMinute } = limits
  if (wanted < fewest || wanted > most)
    throw new UserError(
      `The queue ${queue} may have ${fewest} to ${most} workers, and ${wanted} were asked for; ask for a number between, or change its limits on the page of workers.`,
      { code: 'scale_bounds', values: { queue, wanted, fewest, most } },
    )
  if (perMinute === null) return
  const low = Math.max(...lately, alive) - perMinute
  const high = Math.min(...lately, alive) + perMinute
  // Towards the bounds it may always go: from beyond them there is no other way back.
  const from = Math.max(fewest, Math.min(low, most))
  const to = Math.min(most, Math.max(high, fewest))
  if (wanted < from || wanted > to)
    throw new UserError(
      `The workers of the queue ${queue} may change by ${perMinute} a minute, and ${wanted} would be more than that; ask for ${from} to ${to} now, and for the rest a minute later.`,
      { code: 'scale_rate', values: { queue, wanted, perMinute, from, to } },
    )
}
