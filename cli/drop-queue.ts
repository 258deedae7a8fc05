import { eq } from 'drizzle-orm'
import { frontierKeys, seenKey } from '../core/queue/keys'
import { queues } from '../drizzle/schema/crawl'
import type { Services } from '../server/context'

/** Removes a queue that was made for one crawl: its settings, and whatever Redis still holds of it. Runs and pages stay. */
export async function dropQueue({ database, redis }: Services, name: string): Promise<void> {
  await database.orm.delete(queues).where(eq(queues.name, name))
  await redis.unlink(...frontierKeys(name))
  for await (const keys of redis.scanStream({ match: seenKey(name, '*'), count: 1000 }))
    if ((keys as string[]).length > 0) await redis.unlink(...(keys as string[]))
}
