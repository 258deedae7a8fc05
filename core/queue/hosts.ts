import * as keys from './keys'
import type { Queue } from './queue'
import { classed } from './script'
import { pendingMember, readRecord, readTask, refOf } from './wire'

/** A host of a queue at this instant. Times are ms since 1970, by Redis's clock. */
export interface HostView {
  host: string
  pending: number
  /** Fetches under way. */
  running: number
  /** Nothing from it before: spacing by the delay, and what it asked for (Retry-After). 0: never asked. */
  nextAt: number
  heldUntil: number
  /** Its own least delay (robots.txt Crawl-delay), ms; 0 for none. */
  ownDelayMs: number
  /** An operator's delay that stands for the queue's, ms; null for none. */
  rateMs: number | null
  /** The delay that its answers call for (slow ones, or "too many"), ms; 0 for none beyond the queue's. */
  paceMs: number
}

/** A URL in work, and who has it. */
export interface Holding {
  ref: string
  url: string
  host: string
  /** Worker's id; null when the claim is so old that it is forgotten. */
  worker: string | null
  claimedAt: number
  /** When the lease lapses unless the worker renews it. */
  expiresAt: number
}

/** Where a URL stands in the frontier. */
export interface Standing {
  state: 'pending' | 'running' | 'retry' | 'failed'
  host: string
  attempts: number
  deliveries: number
  /** URLs of its host that go before it, while it is pending. */
  ahead: number
  /** When it was claimed, is due or died; 0 while it is pending. */
  at: number
  /** Who has it and until when the lease is good, while it is running. */
  worker: string | null
  expiresAt: number | null
}

/** What these functions look at. They change nothing, and throw `Unavailable` when Redis does not answer. */
type Looking = Pick<Queue, 'redis' | 'name'>

async function looking<T>(look: () => Promise<T>): Promise<T> {
  try {
    return await look()
  } catch (error) {
    throw classed(error, 'a look at the queue')
  }
}

/** Work under way and retries that a page of hosts takes into account: beyond it, hosts with nothing pending are left out. */
const LOOK = 2000

/**
 * Hosts with work, by name, a page at a time: `after` is the last one seen. Costs the same whatever the queue holds, since the
 * pending index has each host's work in one place.
 * @param prefix only hosts whose name begins so; a host of exactly that name is shown without work too.
 */
export const listHosts = (queue: Looking, page: { after?: string; prefix?: string; limit: number }) =>
  looking(() => hostsPage(queue, page))

async function hostsPage(
  { redis, name }: Looking,
  { after = '', prefix = '', limit }: { after?: string; prefix?: string; limit: number },
): Promise<{ hosts: HostView[]; next: string | null }> {
  const names = new Set<string>()
  let from = after === '' ? `[${prefix}` : `(${after}\x01`
  while (names.size <= limit) {
    const [member] = await redis.zrangebylex(keys.pendingKey(name), from, '+', 'LIMIT', 0, 1)
    const host = member?.slice(0, member.indexOf('\0'))
    if (!host?.startsWith(prefix)) break
    names.add(host)
    from = `(${host}\x01`
  }
  const refs = [
    ...(await redis.zrange(keys.leasedKey(name), '0', String(LOOK - 1))),
    ...(await redis.zrange(keys.delayedKey(name), '0', String(LOOK - 1))),
  ]
  if (refs.length > 0)
    for (const text of await redis.hmget(keys.tasksKey(name), ...refs)) {
      const host = text ? readRecord(text)?.host : undefined
      if (host?.startsWith(prefix) && host > after) names.add(host)
    }
  if (prefix > after && (await redis.hexists(keys.hostKey(name), prefix))) names.add(prefix)
  const sorted = [...names].sort()
  const shown = sorted.slice(0, limit)
  return {
    hosts: await Promise.all(shown.map((host) => hostView({ redis, name }, host))),
    next: sorted.length > limit ? shown.at(-1)! : null,
  }
}

/** One host; one that the queue does not know has no work and may be asked at any time. */
export const readHost = (queue: Looking, host: string) => looking(() => hostView(queue, host))

async function hostView({ redis, name }: Looking, host: string): Promise<HostView> {
  const [pending, record] = await Promise.all([
    redis.zlexcount(keys.pendingKey(name), `[${host}\0`, `(${host}\x01`),
    redis.hget(keys.hostKey(name), host),
  ])
  const [nextAt = 0, heldUntil = 0, running = 0, ownDelayMs = 0, , , rate = '', pace = 0] =
    record?.split('|') ?? []
  return {
    host,
    pending,
    running: Number(running),
    nextAt: Number(nextAt),
    heldUntil: Number(heldUntil),
    ownDelayMs: Number(ownDelayMs),
    rateMs: rate === '' ? null : Number(rate),
    paceMs: Number(pace),
  }
}

/** How many URLs of each host a run with a budget a host has admitted. */
export const readShares = (queue: Looking, run: number, hosts: string[]) =>
  looking(async () => {
    if (hosts.length === 0) return []
    return (await queue.redis.hmget(keys.sharesKey(queue.name, run), ...hosts)).map(Number)
  })

/** URLs of a host in work, the lease that lapses first in front; at most 2,000 are looked at. */
export const listHoldings = (queue: Looking, host: string) => looking(() => holdings(queue, host))

async function holdings({ redis, name }: Looking, host: string): Promise<Holding[]> {
  const leased = await redis.zrange(keys.leasedKey(name), '0', String(LOOK - 1), 'WITHSCORES')
  const refs = leased.filter((_, at) => at % 2 === 0)
  if (refs.length === 0) return []
  const texts = await redis.hmget(keys.tasksKey(name), ...refs)
  const held = refs.flatMap((ref, at) => {
    const record = texts[at] ? readRecord(texts[at]) : null
    if (!record || record.host !== host) return []
    const { url } = readTask(ref, record.host, record.priority, record.body)
    return [{ ref, url, record, expiresAt: Number(leased[at * 2 + 1]) }]
  })
  return Promise.all(
    held.map(async ({ ref, url, record, expiresAt }) => ({
      ref,
      url,
      host: record.host,
      worker: await holderOf({ redis, name }, record.token),
      claimedAt: record.at,
      expiresAt,
    })),
  )
}

/** A claim gives out rising numbers and is remembered by its last: a token belongs to the first claim from its number on. */
async function holderOf({ redis, name }: Looking, token: string): Promise<string | null> {
  const number = Number(token.slice(token.indexOf('.') + 1))
  const [entry] = await redis.zrangebyscore(keys.claimsKey(name), number, '+inf', 'LIMIT', 0, 1)
  return entry?.slice(0, entry.indexOf(' ')) ?? null
}

const STANDINGS = { p: 'pending', r: 'running', t: 'retry', f: 'failed' } as const

/** Where a URL (id) of a run stands; null when the frontier holds it no more, or never did. */
export const readStanding = (queue: Looking, run: number, id: string) =>
  looking(() => standing(queue, refOf(run, id)))

async function standing({ redis, name }: Looking, ref: string): Promise<Standing | null> {
  const text = await redis.hget(keys.tasksKey(name), ref)
  const record = text ? readRecord(text) : null
  if (!record) return null
  const state = STANDINGS[record.state]
  const { host, attempts, deliveries, at } = record
  const [ahead, worker, lease] = await Promise.all([
    state === 'pending'
      ? redis.zlexcount(keys.pendingKey(name), `[${host}\0`, `(${pendingMember(ref, record)}`)
      : 0,
    state === 'running' ? holderOf({ redis, name }, record.token) : null,
    state === 'running' ? redis.zscore(keys.leasedKey(name), ref) : null,
  ])
  return {
    state,
    host,
    attempts,
    deliveries,
    ahead,
    at,
    worker,
    expiresAt: lease === null ? null : Number(lease),
  }
}
