import { deflateRawSync } from 'node:zlib'
import { setEnv } from '../core/env'
import type { OutcomeState } from '../core/queue/states'
import type { NewTask } from '../core/queue/task'
import { hostKey, urlHash, urlId } from '../core/url'
import { openServices, type Services } from '../server/context'
import { ensureQueue } from '../server/services/queues'
import { type SavedSpider, saveSpider } from '../server/services/spiders'
import { storePages } from '../worker/sink/pages'
import { freshDatabase, freshName, testRedisUrl } from './services'

export interface ServerRig {
  services: Services
  queue: string
  spider: SavedSpider
  rows<T>(text: string, values?: unknown[]): Promise<T[]>
  close(): Promise<void>
}

/** Services on a database and a queue of the test's own, with one spider. */
export async function openServerRig(): Promise<ServerRig> {
  const site = await freshDatabase()
  setEnv({ REDIS_URL: testRedisUrl(), DATABASE_URL: site.url, LOG_LEVEL: 'silent' })
  const services = await openServices('test')
  const queue = freshName('server')
  await ensureQueue(services, queue, { delayMs: 0, perHost: 500, concurrency: 50 })
  const spider = await saveSpider(services, { name: 'rig' }, 'test')
  return {
    services,
    queue,
    spider,
    async rows<T>(text: string, values: unknown[] = []) {
      const [rows] = await services.database.pool.query(text, values)
      return rows as T[]
    },
    async close() {
      await services.close()
      await site.drop()
    },
  }
}

export interface Visit {
  state?: OutcomeState
  /** URLs that the page links to. */
  links?: string[]
}

/**
 * Does what a worker does, without fetching, until the queue has nothing to claim or `most` pages are done: the record
 * first, then the acknowledgement with the links. @returns the URLs in the order they were visited.
 */
export async function work(
  { services, queue }: ServerRig,
  visit: (url: string) => Visit = () => ({}),
  most = Number.POSITIVE_INFINITY,
): Promise<string[]> {
  const visited: string[] = []
  const dispatcher = services.queue(queue)
  while (visited.length < most) {
    const { leases } = await dispatcher.claim({
      max: Math.min(10, most - visited.length),
      leaseMs: 30_000,
      hardMs: 60_000,
      settingsVersion: 0,
    })
    if (leases.length === 0) return visited
    await dispatcher.begin(leases)
    for (const lease of leases) {
      const { state = 'done', links = [] } = visit(lease.url)
      visited.push(lease.url)
      await storePages(services.database.pool, [
        {
          run: lease.run,
          hash: urlHash(lease.url),
          url: lease.url,
          finalUrl: lease.url,
          state,
          reason: state === 'done' ? null : 'http_404',
          detail: null,
          status: state === 'done' ? 200 : 404,
          title: `Title of ${lease.url}`,
          depth: lease.depth,
          referrer: lease.referrer ?? null,
          contentType: 'text/html',
          flags: null,
          charset: 'utf-8',
          bytes: 100,
          ms: 5,
          attempts: lease.attempts + 1,
          deliveries: lease.deliveries + 1,
          items: state === 'done' ? [{ name: 'page', data: { url: lease.url } }] : [],
          links: links.length > 0 ? deflateRawSync(links.join('\n')) : null,
          digest: null,
          warc: null,
          archive: null,
          contentRun: null,
          visit: null,
          token: lease.token,
          fetchedAt: new Date(),
        },
      ])
      await dispatcher.ack([
        {
          ref: lease.ref,
          token: lease.token,
          state,
          links: links.map((url) => task(url, lease.depth + 1, lease.url)),
        },
      ])
    }
  }
  return visited
}

/** A task as a worker would admit it. */
export function task(url: string, depth = 0, referrer?: string): NewTask {
  return { url, id: urlId(url), host: hostKey(url), depth, priority: 0, ...(referrer ? { referrer } : {}) }
}
