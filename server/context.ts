import type { Redis } from 'ioredis'
import { databaseUrl, env, redisUrl } from '../core/env'
import { type Log, openLog } from '../core/log'
import { Queue } from '../core/queue/queue'
import { openRedis } from '../core/redis'
import { requireSafeRedis } from '../core/redis-safety'
import { type Database, openDatabase, ping, requireTables } from '../drizzle/database'

/** What every service works with: the record, the dispatcher and a log. One for each process. */
export interface Services {
  database: Database
  redis: Redis
  log: Log
  /** The queue whose inbox has that name; the same object each time. */
  queue(name: string): Queue
  close(): Promise<void>
}

/**
 * Connects to the Redis and the database that the environment names. Does not migrate.
 * @param name process name, as it stands in the log.
 * @throws UserError when an address is missing, Unavailable when a server does not answer, UnsafeError when Redis may lose work.
 */
export async function openServices(name: string): Promise<Services> {
  const log = openLog(name)
  const url = databaseUrl()
  const redis = await openRedis(redisUrl())
  const database = openDatabase(url)
  try {
    await requireSafeRedis(redis, env().ALLOW_UNSAFE_REDIS, log)
    await ping(database, url)
    await requireTables(database, url)
  } catch (error) {
    redis.disconnect()
    await database.close()
    throw error
  }
  const queues = new Map<string, Queue>()
  return {
    database,
    redis,
    log,
    queue(inbox) {
      const known = queues.get(inbox) ?? new Queue(redis, inbox)
      queues.set(inbox, known)
      return known
    },
    async close() {
      redis.disconnect()
      await database.close()
    },
  }
}
