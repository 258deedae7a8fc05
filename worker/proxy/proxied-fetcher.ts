import { hostKey, tryCanonicalise } from '../../core/url'
import { isChallenge } from '../challenge'
import { FetchFailure } from '../fetch/failure'
import type { Fetched, Fetcher } from '../fetch/fetcher'
import type { ProxyPool } from './proxy-pool'

/** Statuses with which sites turn away who asks too often, or from where they do not like. */
const TURNED_AWAY = new Set([403, 429])

/**
 * A fetcher whose requests go through the queue's proxies, where it has some: robots.txt and redirects as well as pages. It never
 * goes without: an address that proxies are to hide would be shown.
 */
export function proxiedFetcher(fetcher: Fetcher, pool: ProxyPool): Fetcher {
  return {
    async fetch(url, request) {
      const host = hostKey(tryCanonicalise(url) ?? url)
      const proxy = await pool.pick(host)
      if (!proxy) return fetcher.fetch(url, request)
      try {
        const fetched = await fetcher.fetch(url, { ...request, proxy })
        await pool.report(proxy, turnedAway(fetched) ? 'banned' : 'good', host)
        return fetched
      } catch (error) {
        if (error instanceof FetchFailure && error.code === 'proxy') await pool.report(proxy, 'bad', host)
        throw error
      }
    },
    // Whoever a proxy connects to, it resolves the name, and the site sees the proxy's address.
    addressOf: async (host) => ((await pool.isEmpty()) ? fetcher.addressOf(host) : null),
    close: () => fetcher.close(),
  }
}

const turnedAway = (fetched: Fetched) => TURNED_AWAY.has(fetched.status) || isChallenge(fetched)
