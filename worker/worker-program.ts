import { databaseUrl, type Env, env, redisUrl } from '../core/env'
import type { Log } from '../core/log'
import { patiently } from '../core/patience'
import { runProgram } from '../core/program'
import { openRedis } from '../core/redis'
import { requireSafeRedis } from '../core/redis-safety'
import { openDatabase, ping, requireTables } from '../drizzle/database'
import { requireKind } from './sink/fleet'
import { LAST_FILES_MS, type Pages, Worker } from './worker'

/** What may come after the drain, which has its own time limit. */
const FAREWELL_MS = 2_000

/**
 * A worker process; stopped, it drains.
 * @param pages opens what fetches the pages of a worker that renders; a plain one needs nothing of it, and loads no browser.
 */
export async function runWorker(pages?: (settings: Env, log: Log) => Promise<Pages>): Promise<void> {
  await runProgram('worker', async (log) => {
    const settings = env()
    // First: whether it can be at all needs no server.
    const rendering = await pages?.(settings, log)
    const redis = await patiently(log, () => openRedis(redisUrl()))
    await requireSafeRedis(redis, settings.ALLOW_UNSAFE_REDIS, log)
    if (settings.UV_THREADPOOL_SIZE === undefined)
      log.warn(
        'Node has four threads for name look-ups and decompression; start workers with UV_THREADPOOL_SIZE=16',
      )
    const heartbeat = await openRedis(redisUrl(), 'heartbeat')
    const blocking = await openRedis(redisUrl(), 'blocking')
    const trying = await openRedis(redisUrl(), 'blocking')
    const database = openDatabase(databaseUrl(), 4)
    await patiently(log, async () => {
      await ping(database, databaseUrl())
      await requireTables(database, databaseUrl())
    })
    await requireKind(database.pool, settings.QUEUE_KEY, rendering ? 'render' : 'http')
    const worker = new Worker(settings, { redis, heartbeat, blocking, trying, database }, log, rendering)
    return {
      farewellMs: settings.DRAIN_SECONDS * 1000 + (settings.S3_ENDPOINT ? LAST_FILES_MS : 0) + FAREWELL_MS,
      start: () => worker.start(),
      async stop() {
        await worker.drain()
        for (const connection of [redis, heartbeat, blocking, trying]) connection.disconnect()
        await database.close()
      },
    }
  })
}
