import type { Lease } from '../core/queue/task'
import { packLinks } from '../core/stored-links'
import { urlHash } from '../core/url'
import type { Finished } from './finisher'
import type { KnownLinks } from './known-links'
import { pageLinks } from './page-links'
import { isDue, isRevisited } from './revisit'
import type { CrawlRun } from './run-cache'
import type { LastVisit } from './sink/visits'

export interface NotDueParts {
  run: (id: number) => Promise<CrawlRun>
  lastVisit: (spider: number, hash: Buffer) => Promise<LastVisit | null>
  known: KnownLinks
}

/**
 * The end of a page that need not be asked for in this run, or null when it must be. It is passed over before it begins, so
 * that it costs no turn of its host; the links it had at the last visit are followed all the same.
 */
export async function passOver(lease: Lease, parts: NotDueParts): Promise<Finished | null> {
  const run = await parts.run(lease.run)
  const { spider } = run.spider
  const { mode } = spider.revisit
  if ((mode !== 'due' && mode !== 'new') || !isRevisited(lease, run)) return null
  // Whoever began it found it due, and may have stored it.
  if (lease.deliveries > 0) return null
  if (mode === 'new' && lease.depth === 0 && !lease.referrer) return null
  const hash = urlHash(lease.url, spider.identity)
  const last = await parts.lastVisit(run.spiderId, hash)
  if (!last || last.run === lease.run || isDue(last, spider, new Date())) return null
  const links = pageLinks(last.links, last.finalUrl, lease, run, parts.known)
  const reason = 'not_due'
  return {
    lease,
    state: 'ignored',
    reason,
    links,
    record: {
      run: lease.run,
      hash,
      url: lease.url,
      finalUrl: last.finalUrl,
      state: 'ignored',
      reason,
      detail: null,
      status: null,
      title: last.title,
      depth: lease.depth,
      referrer: lease.referrer ?? null,
      contentType: null,
      charset: null,
      flags: null,
      bytes: null,
      ms: null,
      attempts: lease.attempts,
      deliveries: lease.deliveries,
      items: [],
      links: packLinks(links.map(({ url }) => ({ url }))),
      digest: null,
      contentRun: last.gone ? null : last.contentRun,
      warc: null,
      archive: null,
      visit: null,
      token: lease.token,
      fetchedAt: new Date(),
    },
  }
}
