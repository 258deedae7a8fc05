import { RE2JS } from 're2js'
import type { Spider } from './spider'
import { hostKey, identity, site, tryWebUrl } from './url'

/** Where a run began: what `host` and `site` in a spider's `follow.scope` are measured against. */
export interface SeedScope {
  /** Host keys, as `hostKey` gives them. */
  hosts: ReadonlySet<string>
  /** Sites, as `site` gives them. */
  sites: ReadonlySet<string>
}

/** The hosts and sites of a run's seeds; what is not a URL that can be crawled is passed over. */
export function seedScope(seedUrls: Iterable<string>): SeedScope {
  const hosts = new Set<string>()
  for (const seed of seedUrls) {
    const url = tryWebUrl(seed)
    if (url !== null) hosts.add(hostKey(url))
  }
  return { hosts, sites: new Set([...hosts].map(site)) }
}

/** The rules of a spider's `follow`, in the order in which they are asked. */
type ScopeRule = 'depth' | 'scope' | 'allow' | 'deny'

/** A spider's `follow`, ready to be asked. */
export interface FollowRules {
  /**
   * Whether a link is followed. Seeds are not asked.
   * @param url URL of the link; the patterns are held against its canonical form.
   * @param depth Links away from the seed, this one included.
   * @param pageUrl Final URL of the page it stands on: a seed that is redirected (to `www.`, to another domain) brings the
   *   host or site it arrived at into scope.
   */
  inScope(url: string, depth: number, seeds: SeedScope, pageUrl: string): boolean
  /** The rule that keeps a link from being followed, for people; null when it is followed. */
  refusedBy(url: string, depth: number, seeds: SeedScope, pageUrl: string): ScopeRule | null
  /** Whether a page of a sitemap is taken: as a link, but however far away, and on the hosts at hand where no link is followed. */
  inSitemapScope(url: string, seeds: SeedScope, sitemapUrl: string): boolean
}

/** @throws RE2JSException for a pattern that is not RE2; `checkSpider` refuses such a spider before. */
export function compileFollow(follow: Spider['follow']): FollowRules {
  const allow = follow.allow.map((pattern) => RE2JS.compile(pattern))
  const deny = follow.deny.map((pattern) => RE2JS.compile(pattern))
  const inPlace = placeRule(follow.scope)
  const inSitemapPlace = placeRule(follow.scope === 'none' ? 'host' : follow.scope)
  const unwanted = (url: string) => {
    if (allow.length > 0 && !matches(allow, url)) return 'allow'
    return matches(deny, url) ? 'deny' : null
  }
  const refusedBy: FollowRules['refusedBy'] = (url, depth, seeds, pageUrl) => {
    if (follow.depth !== null && depth > follow.depth) return 'depth'
    return inPlace(url, seeds, pageUrl) ? unwanted(url) : 'scope'
  }
  return {
    refusedBy,
    inScope: (url, depth, seeds, pageUrl) => refusedBy(url, depth, seeds, pageUrl) === null,
    inSitemapScope: (url, seeds, sitemapUrl) =>
      inSitemapPlace(url, seeds, sitemapUrl) && unwanted(url) === null,
  }
}

function matches(patterns: RE2JS[], url: string): boolean {
  return patterns.length > 0 && patterns.some((pattern) => pattern.test(identity(url)))
}

function placeRule(scope: Spider['follow']['scope']) {
  // Most links stay on the host, which spares the look-up in the suffix list.
  const onHost = (url: string, seeds: SeedScope, pageUrl: string) => {
    const host = hostKey(url)
    return seeds.hosts.has(host) || host === hostKey(pageUrl)
  }
  switch (scope) {
    case 'host':
      return onHost
    case 'site':
      return (url: string, seeds: SeedScope, pageUrl: string) => {
        if (onHost(url, seeds, pageUrl)) return true
        const place = site(hostKey(url))
        return seeds.sites.has(place) || place === site(hostKey(pageUrl))
      }
    case 'anywhere':
      return () => true
    case 'none':
      return () => false
  }
}
