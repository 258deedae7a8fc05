import type { Lease, NewTask } from '../core/queue/task'
import type { StoredLink } from '../core/stored-links'
import { hostKey, urlId } from '../core/url'
import type { KnownLinks } from './known-links'
import type { CrawlRun } from './run-cache'
import { latestOf } from './sitemap/lastmod'
import type { Sitemap } from './sitemap/read-sitemap'

/** The task that a URL found at `lease` becomes. */
export function linkTask(
  url: string,
  depth: number,
  lease: Lease,
  run: CrawlRun,
  { priority = lease.priority, meta }: Omit<StoredLink, 'url'> = {},
): NewTask {
  return {
    url,
    id: urlId(url, run.spider.spider.identity),
    host: hostKey(url),
    depth,
    priority,
    referrer: lease.url,
    ...(meta !== undefined && { meta }),
  }
}

/** A page's links that are in scope and not known to be admitted already. */
export function pageLinks(
  urls: string[],
  pageUrl: string,
  lease: Lease,
  run: CrawlRun,
  known: KnownLinks,
): NewTask[] {
  const depth = lease.depth + 1
  return urls
    .filter((url) => !known.has(lease.run, url) && run.spider.inScope(url, depth, run.seeds, pageUrl))
    .map((url) => linkTask(url, depth, lease, run))
}

/** What a sitemap lists, likewise. It all counts as seeds do: a sitemap is no step away from them. */
export function sitemapLinks(
  { entries, sitemaps }: Sitemap,
  sitemapUrl: string,
  lease: Lease,
  run: CrawlRun,
  known: KnownLinks,
): NewTask[] {
  const { since } = run.spider.spider.revisit
  const pages = entries.filter(
    ({ url, lastmod }) =>
      run.spider.inSitemapScope(url, run.seeds, sitemapUrl) &&
      !(since && (latestOf(lastmod)?.toISOString() ?? since) < since),
  )
  return [...sitemaps, ...pages]
    .filter(({ url }) => !known.has(lease.run, url))
    .map(({ url }) => linkTask(url, lease.depth, lease, run))
}
