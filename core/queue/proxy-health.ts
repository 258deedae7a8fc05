import { proxyBansKey, proxyHealthKey } from './keys'
import type { Queue } from './queue'
import { classed } from './script'

/** How a proxy of a queue does, as all workers together have found. */
export interface ProxyHealth {
  /** 0 … 1: a mean of its outcomes that forgets. */
  score: number
  /** ms since 1970, by Redis's clock; 0 for no rest. */
  restsUntil: number
  uses: number
}

export const FRESH: ProxyHealth = { score: 1, restsUntil: 0, uses: 0 }

type Looking = Pick<Queue, 'redis' | 'name'>

/** Health by the id of the proxy; those never used are not among them. */
export async function readProxyHealth({ redis, name }: Looking): Promise<Map<number, ProxyHealth>> {
  const records = await looking(() => redis.hgetall(proxyHealthKey(name)))
  return new Map(
    Object.entries(records).map(([id, record]) => {
      const [score, , rests, uses] = record.split('|').map(Number)
      return [Number(id), { score: score! / 1000, restsUntil: rests!, uses: uses! }]
    }),
  )
}

/** Until when the host turns each of these proxies away, ms since 1970; 0 for not at all. */
export async function readBans({ redis, name }: Looking, ids: number[], host: string): Promise<number[]> {
  if (ids.length === 0) return []
  const members = ids.map((id) => `${id} ${host}`)
  return (await looking(() => redis.zmscore(proxyBansKey(name), ...members))).map(Number)
}

/** Notes what became of a fetch through a proxy; see lua/report-proxy.lua. */
export async function reportProxy(
  queue: Queue,
  id: number,
  outcome: 'good' | 'bad' | 'banned',
  host: string,
): Promise<void> {
  await queue.script(
    'report-proxy',
    [id, outcome, host],
    [proxyHealthKey(queue.name), proxyBansKey(queue.name)],
  )
}

/** Forgets what was found of a proxy. */
export async function forgetProxy({ redis, name }: Looking, id: number): Promise<void> {
  await looking(() => redis.hdel(proxyHealthKey(name), String(id)))
}

async function looking<T>(look: () => Promise<T>): Promise<T> {
  try {
    return await look()
  } catch (error) {
    throw classed(error, 'a look at the proxies')
  }
}
