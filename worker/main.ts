import { databaseUrl, env, redisUrl } from '../core/env'
import { sentence, Unavailable, UnsafeError, UserError } from '../core/errors'
import { openLog } from '../core/log'
import { patiently } from '../core/patience'
import { openRedis } from '../core/redis'
import { requireSafeRedis } from '../core/redis-safety'
import { openDatabase, ping, requireTables } from '../drizzle/database'
import { Worker } from './worker'

/**
 * The worker process. Exit codes: 0 drained after SIGTERM or SIGINT, 1 could not start or failed, 2 wrong configuration.
 */
const FAREWELL_MS = 2_000

async function main(): Promise<void> {
  const settings = env()
  const log = openLog('worker')
  const redis = await patiently(log, () => openRedis(redisUrl()))
  await requireSafeRedis(redis, settings.ALLOW_UNSAFE_REDIS, log)
  if (settings.UV_THREADPOOL_SIZE === undefined)
    log.warn(
      'Node has four threads for name look-ups and decompression; start workers with UV_THREADPOOL_SIZE=16',
    )
  const heartbeat = await openRedis(redisUrl(), 'heartbeat')
  const blocking = await openRedis(redisUrl(), 'blocking')
  const database = openDatabase(databaseUrl(), 4)
  await patiently(log, async () => {
    await ping(database, databaseUrl())
    await requireTables(database, databaseUrl())
  })
  const worker = new Worker(settings, { redis, heartbeat, blocking, database }, log)

  const end = async (signal: string) => {
    log.info({ signal }, 'Signal received')
    // The drain has its own time limit; this one is for whatever hangs after it.
    setTimeout(() => process.exit(1), settings.DRAIN_SECONDS * 1000 + FAREWELL_MS).unref()
    await worker.drain()
    for (const connection of [redis, heartbeat, blocking]) connection.disconnect()
    await database.close()
    log.flush(() => process.exit(0))
  }
  process.once('SIGTERM', () => void end('SIGTERM'))
  process.once('SIGINT', () => void end('SIGINT'))
  await worker.start()
}

main().catch((error) => {
  const expected = error instanceof UserError || error instanceof UnsafeError || error instanceof Unavailable
  process.stderr.write(`${expected ? sentence(error) : (error as Error).stack}\n`)
  process.exit(error instanceof UserError ? 2 : 1)
})
