import { createHash } from 'node:crypto'
import { sentence } from '../../core/errors'
import type { Log } from '../../core/log'
import { type ProxyAddress, type ProxyRotation, proxyPlace } from '../../core/proxy-address'
import {
  FRESH,
  type ProxyHealth,
  readBans,
  readProxyHealth,
  reportProxy,
} from '../../core/queue/proxy-health'
import type { Queue } from '../../core/queue/queue'
import { unseal } from '../../core/seal'
import { FetchFailure } from '../fetch/failure'

/** What a queue's proxies are read again after, and their health. */
const LIST_MS = 5_000
const HEALTH_MS = 1_000
/** Proxies whose bans are asked for at a time. */
const LOOK = 8
/** How long a host is left alone when no proxy can be used and none says when. */
const WAIT_MS = 15_000

export interface Proxy {
  id: number
  /** Without what is secret. */
  shown: string
  address: ProxyAddress
}

/** All of the queue's proxies rest, or the host turns all of them away. Nothing is fetched without one instead. */
export class NoProxy extends FetchFailure {
  constructor(
    detail: string,
    /** Milliseconds until it is worth another look. */
    readonly waitMs: number,
  ) {
    super('proxy', detail)
  }
}

/** The proxies of a worker's queue. Which do well is known to all workers; what is in turn, each worker counts for itself. */
export class ProxyPool {
  #list: { until: number; proxies: Promise<Proxy[]> } | undefined
  #health: { until: number; found: Promise<Map<number, ProxyHealth>> } | undefined
  #turn = Math.floor(Math.random() * 1_000_000)

  constructor(
    private readonly parts: {
      queue: Queue
      read: () => Promise<{ id: number; shown: string; sealed: string }[]>
      rotation: () => ProxyRotation
      log: Log
    },
  ) {}

  /** Whether the queue has no proxies at all. */
  async isEmpty(): Promise<boolean> {
    return (await this.#proxies()).length === 0
  }

  /** The proxy for a fetch from the host; null where the queue has none. @throws NoProxy when none can be used for now. */
  async pick(host: string): Promise<Proxy | null> {
    const all = await this.#proxies()
    if (all.length === 0) return null
    const health = await this.#healthOf()
    const now = Date.now()
    const of = ({ id }: Proxy) => health.get(id) ?? FRESH
    const awake = all.filter((proxy) => of(proxy).restsUntil <= now)
    const ordered = this.#order(awake, host, of)
    let soonest = Math.min(...all.map((proxy) => of(proxy).restsUntil).filter((until) => until > now))
    for (let from = 0; from < ordered.length; from += LOOK) {
      const some = ordered.slice(from, from + LOOK)
      const bans = await readBans(
        this.parts.queue,
        some.map(({ id }) => id),
        host,
      )
      const free = some.findIndex((_, n) => bans[n]! <= now)
      if (free >= 0) return some[free]!
      soonest = Math.min(soonest, ...bans)
    }
    const wait = Number.isFinite(soonest) ? Math.min(soonest - now, WAIT_MS) : WAIT_MS
    throw new NoProxy(`${host}: none of the ${all.length} proxies of the queue can be used for now`, wait)
  }

  async report(proxy: Proxy, outcome: 'good' | 'bad' | 'banned', host: string): Promise<void> {
    if (outcome === 'bad') this.#health = undefined
    await reportProxy(this.parts.queue, proxy.id, outcome, host).catch((error) =>
      this.parts.log.warn(
        { proxy: proxy.shown, cause: sentence(error) },
        'The outcome of a proxy could not be noted',
      ),
    )
  }

  #order(proxies: Proxy[], host: string, health: (proxy: Proxy) => ProxyHealth): Proxy[] {
    switch (this.parts.rotation()) {
      case 'turn': {
        const first = this.#turn++ % Math.max(1, proxies.length)
        return [...proxies.slice(first), ...proxies.slice(0, first)]
      }
      // The highest of the hashes (rendezvous): of a proxy that goes, only its own hosts move.
      case 'host':
        return sortedBy(proxies, ({ shown }) => rank(`${host} ${shown}`))
      // Drawn by weight, without putting back (Efraimidis and Spirakis).
      case 'health':
        return sortedBy(proxies, (proxy) => Math.random() ** (1 / Math.max(0.02, health(proxy).score)))
    }
  }

  async #proxies(): Promise<Proxy[]> {
    if (!this.#list || this.#list.until < performance.now()) {
      const before = this.#list
      const proxies = this.#open()
      this.#list = { until: performance.now() + LIST_MS, proxies }
      proxies.catch(() => {
        this.#list = before && { ...before, until: performance.now() + LIST_MS }
      })
    }
    return this.#list.proxies
  }

  async #open(): Promise<Proxy[]> {
    const { read, queue, log } = this.parts
    const rows = await read()
    try {
      return rows.map(({ id, shown, sealed }) => ({
        id,
        shown,
        address: unseal('proxies', sealed, proxyPlace(queue.name, shown)) as ProxyAddress,
      }))
    } catch (error) {
      log.error({ cause: sentence(error) }, 'The queue’s proxies cannot be read, so nothing is fetched')
      throw new NoProxy(sentence(error), WAIT_MS)
    }
  }

  #healthOf(): Promise<Map<number, ProxyHealth>> {
    if (!this.#health || this.#health.until < performance.now()) {
      const found = readProxyHealth(this.parts.queue)
      this.#health = { until: performance.now() + HEALTH_MS, found }
      found.catch(() => {
        this.#health = undefined
      })
    }
    return this.#health.found
  }
}

function sortedBy(proxies: Proxy[], key: (proxy: Proxy) => number): Proxy[] {
  return proxies
    .map((proxy) => ({ proxy, key: key(proxy) }))
    .sort((a, b) => b.key - a.key)
    .map(({ proxy }) => proxy)
}

const rank = (text: string) => createHash('sha1').update(text).digest().readUInt32BE(0)
