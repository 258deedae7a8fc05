import { and, desc, eq, lt } from 'drizzle-orm'
import { z } from 'zod'
import { UserError } from '../../core/errors'
import { inTransaction } from '../../drizzle/database'
import { scaleRequests } from '../../drizzle/schema/fleet'
import type { Services } from '../context'
import { change, select } from '../db'
import { type Actor, recordChange } from './audit-log'
import { checkLimits, limitsOf, MOST_WORKERS } from './scale-limits'

export type ScaleRequest = typeof scaleRequests.$inferSelect

const schema = z.strictObject({
  queue: z.string().min(1).max(64),
  wanted: z.number().int().min(0).max(MOST_WORKERS),
  reason: z.string().trim().max(500).optional(),
})
export type ScaleInput = z.input<typeof schema>

/**
 * Asks for a number of workers on a queue; the scaler carries it out, whichever process asked and whether or not it still runs.
 * An earlier request of that queue that is still open is superseded: only the newest wish counts.
 * @returns the request as it stands on record.
 * @throws UserError for an unknown queue, or a number out of range or beyond the queue's limits.
 */
export async function requestScale(s: Services, input: ScaleInput, actor: Actor): Promise<ScaleRequest> {
  const parsed = schema.safeParse(input)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw new UserError(
      `The workers can't be asked for: ${issue!.path.join('.') || 'the input'} is not usable (${issue!.message}); between 0 and ${MOST_WORKERS} can be wanted.`,
    )
  }
  const { queue, wanted, reason } = parsed.data
  const id = await inTransaction(s.database.pool, async (connection) => {
    // The queue's row is the lock: two requests at once come one after the other, and the later supersedes the earlier.
    const [row] = await select<{ kind: ScaleRequest['kind'] }>(
      connection,
      'SELECT kind FROM queues WHERE name = ? FOR UPDATE',
      [queue],
    )
    if (!row)
      throw new UserError(`There is no queue "${queue}"; the list of queues shows those there are.`, {
        code: 'queue_unknown',
        values: { queue },
      })
    const [alive] = await select<{ n: number }>(
      connection,
      "SELECT COUNT(*) AS n FROM workers WHERE queue = ? AND kind = ? AND state = 'running'",
      [queue, row.kind],
    )
    const lately = await select<{ previous: number; wanted: number }>(
      connection,
      "SELECT previous, wanted FROM scale_requests WHERE queue = ? AND kind = ? AND state <> 'failed' AND created_at > UTC_TIMESTAMP(3) - INTERVAL 1 MINUTE",
      [queue, row.kind],
    )
    checkLimits(await limitsOf(connection, queue), {
      queue,
      wanted,
      alive: alive!.n,
      lately: lately.flatMap((one) => [one.previous, one.wanted]),
    })
    await change(
      connection,
      "UPDATE scale_requests SET state = 'superseded', finished_at = UTC_TIMESTAMP(3) WHERE queue = ? AND kind = ? AND state IN ('waiting', 'running')",
      [queue, row.kind],
    )
    const { insertId } = await change(
      connection,
      "INSERT INTO scale_requests (queue, kind, previous, wanted, reason, state, author, created_at) VALUES (?, ?, ?, ?, ?, 'waiting', ?, UTC_TIMESTAMP(3))",
      [queue, row.kind, alive!.n, wanted, reason || null, actor.slice(0, 191)],
    )
    await recordChange(connection, actor, 'scale.request', queue, { from: alive!.n, to: wanted, reason })
    return insertId
  })
  const [request] = await s.database.orm.select().from(scaleRequests).where(eq(scaleRequests.id, id))
  return request!
}

/** Requests, newest first, of one queue or all. `before` is the id of the last one seen. */
export async function listScaleRequests(
  s: Services,
  { queue, before, limit }: { queue?: string | undefined; before?: number | undefined; limit: number },
): Promise<ScaleRequest[]> {
  return s.database.orm
    .select()
    .from(scaleRequests)
    .where(
      and(
        queue === undefined ? undefined : eq(scaleRequests.queue, queue),
        before === undefined ? undefined : lt(scaleRequests.id, before),
      ),
    )
    .orderBy(desc(scaleRequests.id))
    .limit(limit)
}
