import { Redis } from 'ioredis'
import { sentence, Unavailable } from './errors'
import { redactUrl } from './log'

/**
 * The one place that connects to Redis, because the client's defaults are wrong for a dispatcher:
 * after a lost reply they run a command twice, and on a half-open link they wait for ever. So:
 *
 * - nothing is sent again by the client (`autoResendUnfulfilledCommands: false`): a caller that got no answer knows
 *   only that the outcome is unknown, and every script of ours is safe to repeat;
 * - nothing waits in a queue while offline: the caller hears at once and keeps its work;
 * - each command and each silent socket has a deadline.
 *
 * A `blocking` connection is for `BLMOVE` alone: its deadline is longer than the block, and it is destroyed and
 * reopened when that passes; nothing that must be right depends on it.
 */
export type RedisRole = 'command' | 'heartbeat' | 'blocking'

/** Longest time one blocking read waits, in seconds. */
export const BLOCK_SECONDS = 5

export function connectRedis(url: string, role: RedisRole = 'command'): Redis {
  const deadlineMs = role === 'blocking' ? (BLOCK_SECONDS + 3) * 1000 : 10_000
  const redis = new Redis(url, {
    lazyConnect: true,
    autoResendUnfulfilledCommands: false,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    connectTimeout: 5_000,
    commandTimeout: deadlineMs,
    socketTimeout: deadlineMs + 5_000,
    keepAlive: 10_000,
    retryStrategy: (times) => Math.min(50 * 2 ** Math.min(times, 6), 2_000),
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
    connectionName: `orbweaver-${role}`,
  })
  // Without a listener an error event ends the process; each failed command already rejects with the same cause.
  redis.on('error', () => {})
  return redis
}

/**
 * Connects and answers once the server does. @throws Unavailable naming the server (without password) and the remedy.
 * @param setting where the address stands
 */
export async function openRedis(
  url: string,
  role: RedisRole = 'command',
  setting = 'REDIS_URL',
): Promise<Redis> {
  const redis = connectRedis(url, role)
  let cause = ''
  redis.on('error', (error) => {
    cause = sentence(error)
  })
  try {
    await redis.connect()
    return redis
  } catch (error) {
    redis.disconnect()
    const why = cause || sentence(error)
    const remedy = /WRONGPASS|NOAUTH|AUTH/.test(why)
      ? `check the password in ${setting}`
      : `check that it runs and that ${setting} names it`
    throw new Unavailable(`Redis at ${redactUrl(url)} does not answer (${why}); ${remedy}.`, { cause: error })
  }
}
