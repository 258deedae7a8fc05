import { inTransaction } from '../../drizzle/database'
import type { Services } from '../context'
import { type Actor, recordChange } from './audit-log'
import { getQueue } from './queues'

const AT_ONCE = 300
/** Entries of the inbox that are moved in one script. */
const INBOX_AT_ONCE = 200

/**
 * Drops what waits in a queue: URLs that are pending or wait for a retry become `cancelled` in their runs, entries of the inbox
 * go to the rejected list with the reason, so that nothing vanishes without a trace. What is being fetched goes on.
 * @param most as many as the person was told and confirmed: what arrives meanwhile is not theirs to drop.
 * @throws UserError for an unknown queue.
 */
export async function purgeQueue(
  s: Services,
  name: string,
  most: number,
  actor: Actor,
): Promise<{ cancelled: number; rejected: number }> {
  await getQueue(s, name)
  const queue = s.queue(name)
  let cancelled = 0
  let rejected = 0
  const left = () => most - cancelled - rejected
  while (left() > 0) {
    const step = await queue.purge(Math.min(AT_ONCE, left()))
    cancelled += step.cancelled
    if (step.cancelled === 0) break
  }
  while (left() > 0) {
    const entries = await queue.peekInbox(Math.min(INBOX_AT_ONCE, left()))
    if (entries.length === 0) break
    const at = new Date().toISOString()
    const told = entries.map((entry) => ({ entry, reason: `purged by ${actor}`, at }))
    // False when a worker took the head first; then there is another head to look at.
    if (await queue.takeInbox(entries, [], told)) rejected += entries.length
  }
  await inTransaction(s.database.pool, (connection) =>
    recordChange(connection, actor, 'queue.purge', name, { confirmed: most, cancelled, rejected }),
  )
  return { cancelled, rejected }
}
