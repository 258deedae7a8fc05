import { and, eq, inArray } from 'drizzle-orm'
import { everyKey, frontierKeys } from '../../core/queue/keys'
import { hostDelays, queues } from '../../drizzle/schema/crawl'
import { scaleLimits, workers } from '../../drizzle/schema/fleet'
import type { Services } from '../context'

/**
 * Removes a queue that was made for one crawl, once nobody works on it any more: its settings, and whatever Redis still holds of
 * it. Runs, pages and samples stay.
 */
export async function dropQueue({ database, redis }: Services, name: string): Promise<void> {
  // First, so that no scheduler takes one that was killed, and is on record as running, for a worker whose queue is still to be made.
  await database.orm
    .update(workers)
    .set({ state: 'stopped', running: 0 })
    .where(and(eq(workers.queue, name), inArray(workers.state, ['running', 'draining'])))
  await database.orm.delete(hostDelays).where(eq(hostDelays.queue, name))
  await database.orm.delete(scaleLimits).where(eq(scaleLimits.queue, name))
  await database.orm.delete(queues).where(eq(queues.name, name))
  await redis.unlink(...frontierKeys(name))
  for await (const keys of redis.scanStream({ match: everyKey(name), count: 1000 }))
    if ((keys as string[]).length > 0) await redis.unlink(...(keys as string[]))
}
