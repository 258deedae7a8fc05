import type { Redis } from 'ioredis'
import { freshName, testRedisUrl } from '../../tests/services'
import { openRedis } from '../redis'
import { urlId } from '../url'
import { frontierKeys, metaKey } from './keys'
import { Queue } from './queue'
import type { ScriptName } from './script'
import { SCRIPTS } from './scripts.generated'
import type { Ack, Dedupe, Lease, NewTask, QueueSettings } from './task'

/** What the tests of the queue share: a queue of their own on the real Redis, tasks, a clock they turn, patched scripts. */

export const EXACT: Dedupe = { scope: 'run', kind: 'exact' }
export const FAST: QueueSettings = {
  delayMs: 0,
  perHost: 1000,
  concurrency: 16,
  maxRunning: null,
  paused: false,
}

export async function freshQueue(settings: Partial<QueueSettings> = {}): Promise<Queue> {
  const queue = new Queue(await openRedis(testRedisUrl()), freshName())
  await queue.configure({ ...FAST, ...settings })
  return queue
}

/** Another worker's view of the same queue, on a connection of its own. */
export async function another(queue: Queue): Promise<Queue> {
  return new Queue(await openRedis(testRedisUrl()), queue.name)
}

export function task(path: string | number, more: Partial<NewTask> = {}): NewTask {
  const host = more.host ?? 'a.example'
  const url = `https://${host}/${path}`
  return { url, id: urlId(url), host, depth: 0, priority: 0, ...more }
}

export const tasks = (many: number, more: Partial<NewTask> = {}, from = 0) =>
  Array.from({ length: many }, (_, at) => task(from + at, more))

export const claim = async (queue: Queue, max = 64, leaseMs = 1000, hardMs = 10_000): Promise<Lease[]> =>
  (await queue.claim({ max, leaseMs, hardMs, settingsVersion: 1 })).leases

export const done = (lease: Lease, links: NewTask[] = []): Ack => ({ ...lease, state: 'done', links })

export const path = ({ url }: NewTask) => new URL(url).pathname.slice(1)

/** Everything a queue holds, key by key, in an order of its own: what two looks at the same state always agree on. */
export async function contents({ redis, name }: Queue, more: string[] = []): Promise<unknown[]> {
  return Promise.all(
    [...frontierKeys(name), ...more].map(async (key) => {
      switch (await redis.type(key)) {
        case 'hash':
          return sorted(
            Object.entries(await redis.hgetallBuffer(key)).map(([field, value]) => [field, hex(value)]),
          )
        case 'set':
          return sorted((await redis.smembersBuffer(key)).map(hex))
        case 'zset':
          return (await redis.zrangeBuffer(key, '0', '-1', 'WITHSCORES')).map(hex)
        case 'list':
          return (await redis.lrangeBuffer(key, 0, -1)).map(hex)
        case 'string':
          return hex((await redis.getBuffer(key))!)
        default:
          return null
      }
    }),
  )
}

const hex = (bytes: Buffer) => bytes.toString('latin1')

const sorted = <T extends string | string[]>(list: T[]): T[] =>
  list.sort((a, b) => (String(a) < String(b) ? -1 : 1))

/**
 * Everything of a queue, to be put back. Not to be compared: a large hash or set may give its members in another order
 * after a mere read, since Redis moves them between its tables as it goes.
 */
export async function snapshot({ redis, name }: Queue, more: string[] = []): Promise<(Buffer | null)[]> {
  const pipeline = redis.pipeline()
  for (const key of [...frontierKeys(name), ...more]) pipeline.dumpBuffer(key)
  return ((await pipeline.exec()) ?? []).map(([, bytes]) => bytes as Buffer | null)
}

/** Puts a snapshot back. */
export async function restoreSnapshot(
  { redis, name }: Queue,
  dumps: (Buffer | null)[],
  more: string[] = [],
): Promise<void> {
  const transaction = redis.multi()
  for (const [at, key] of [...frontierKeys(name), ...more].entries()) {
    transaction.del(key)
    if (dumps[at]) transaction.restore(key, 0, dumps[at])
  }
  await transaction.exec()
}

/** Runs `body` with a script's text changed, as if it had that fault. The text must occur in it. */
export async function withPatch<T>(
  script: ScriptName,
  text: string,
  instead: string,
  body: () => Promise<T>,
): Promise<T> {
  const whole = SCRIPTS[script]
  if (!whole.includes(text)) throw new Error(`${script} does not contain ${text}`)
  SCRIPTS[script] = whole.replace(text, instead)
  try {
    return await body()
  } finally {
    SCRIPTS[script] = whole
  }
}

const START = Date.UTC(2026, 0, 5)

/**
 * From the call on, all scripts of this test file read the time from the queue's own META instead of Redis's clock.
 * The product knows nothing of this: the one line that asks for the time is replaced.
 */
export function turnClock(): (queue: { redis: Redis; name: string }, ms: number) => Promise<void> {
  const turned = `{ redis.call('HGET', META, 'test_s') or '${START / 1000}', redis.call('HGET', META, 'test_us') or '0' }`
  for (const name of Object.keys(SCRIPTS) as ScriptName[])
    SCRIPTS[name] = SCRIPTS[name].replace("redis.call('TIME')", turned)
  return async ({ redis, name }, ms) => {
    const at = START + ms
    await redis.hset(metaKey(name), 'test_s', Math.floor(at / 1000), 'test_us', (at % 1000) * 1000)
  }
}
