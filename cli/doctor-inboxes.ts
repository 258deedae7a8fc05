import type { Redis } from 'ioredis'
import { failedKey, inboxKey, rejectedKey } from '../core/queue/keys'
import type { Database } from '../drizzle/database'
import { type Finding, fail, ok, warn } from './finding'

/** A worker tries a claim at least every 5 s, and takes entries then. */
const TAKEN_WITHIN_MS = 7_000
const ALIVE_SECONDS = 20
/** Keys that are looked at for lists which no queue reads. */
const MOST_KEYS = 200_000

interface QueueState {
  name: string
  paused: number
  draining: number
  alive: number
}

/**
 * Whether what is pushed is taken. An inbox that only grows has no worker (which may serve another name), or has workers whose
 * connection is dead or leads elsewhere; a list that no queue reads was pushed under a wrong name.
 */
export async function inboxes(redis: Redis, database: Database): Promise<Finding> {
  const [rows] = await database.pool.query(
    `SELECT q.name, q.paused, q.draining, COUNT(w.id) AS alive FROM queues q LEFT JOIN workers w ON w.queue = q.name
     AND w.state = 'running' AND w.heartbeat_at > UTC_TIMESTAMP(3) - INTERVAL ${ALIVE_SECONDS} SECOND
     GROUP BY q.name, q.paused, q.draining ORDER BY q.name`,
  )
  const queues = rows as QueueState[]
  const served = queues.filter(({ alive }) => alive > 0).map(({ name }) => name)
  const serving = served.length > 0 ? `workers serve ${served.join(', ')}` : 'no worker is alive'
  for (const [list, entries] of await strayLists(redis, queues))
    return fail(
      `The list ${list} holds ${entries} entries, and no queue has that name (${serving}); push to the name that workers serve, or start some with QUEUE_KEY=${list}.`,
    )
  const waiting: { queue: QueueState; head: string; entries: number }[] = []
  for (const queue of queues.filter(({ paused, draining }) => !paused && !draining)) {
    const entries = await redis.llen(inboxKey(queue.name))
    const head = await redis.lindex(inboxKey(queue.name), 0)
    if (head === null) continue
    if (queue.alive === 0)
      return fail(
        `The inbox ${queue.name} holds ${entries} entries, and no worker serves it (${serving}); start some with QUEUE_KEY=${queue.name}, or push to the name that workers serve.`,
      )
    waiting.push({ queue, head, entries })
  }
  if (waiting.length === 0) return resting(queues)
  await new Promise((resolve) => setTimeout(resolve, TAKEN_WITHIN_MS))
  for (const { queue, head, entries } of waiting) {
    const now = await redis.llen(inboxKey(queue.name))
    if (now < entries || (await redis.lindex(inboxKey(queue.name), 0)) !== head) continue
    return fail(
      `The inbox ${queue.name} holds ${now} entries, and its ${queue.alive} live workers took none within ${TAKEN_WITHIN_MS / 1000} s: their connections to this Redis are dead, or lead to another; restart them, and compare their REDIS_URL with this one.`,
    )
  }
  return ok('what waits in the inboxes is being taken')
}

function resting(queues: QueueState[]): Finding {
  const held = queues.filter(({ paused, draining }) => paused || draining).map(({ name }) => name)
  return held.length > 0
    ? warn(
        `Nothing is taken from ${held.join(', ')}, which a person has paused or drains; resume it in the console.`,
      )
    : ok('nothing waits in the inboxes of the queues')
}

/** Lists that somebody pushes to and nothing reads, with their lengths. */
async function strayLists(redis: Redis, queues: QueueState[]): Promise<[string, number][]> {
  const known = new Set(queues.flatMap(({ name }) => [inboxKey(name), failedKey(name), rejectedKey(name)]))
  const stray: [string, number][] = []
  let cursor = '0'
  let seen = 0
  do {
    const [next, keys] = await redis.scan(cursor, 'COUNT', 1000, 'TYPE', 'list')
    cursor = next
    seen += 1000
    for (const key of keys)
      if (!known.has(key) && holdsUrls(await redis.lindex(key, -1))) stray.push([key, await redis.llen(key)])
  } while (cursor !== '0' && seen < MOST_KEYS)
  return stray.sort()
}

/** Whether an entry is of the kind that inboxes take, so that other programs' lists are let be. */
const holdsUrls = (entry: string | null) => /^\s*(https?:\/\/|\{.*"url"\s*:)/is.test(entry ?? '')
