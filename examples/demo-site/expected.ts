import type { Resource, Site } from './resource'

export interface Expected {
  /** Every URL that a crawl with `examples/demo.json` from the home page admits, and how it ends. */
  pages: Map<string, 'done' | 'failed' | 'ignored'>
  admitted: number
  done: number
  failed: number
  ignored: number
  items: number
}

/**
 * What a crawl of the demo site from its home page must come to: a walk of the model's links by the rules of
 * docs/architecture.md, knowing nothing of the crawler's code.
 */
export function expectedOutcome(site: Site): Expected {
  const pages: Expected['pages'] = new Map()
  const queue = [`${site.origin}/`]
  const seen = new Set(queue)
  const count = { done: 0, failed: 0, ignored: 0 }
  let items = 0
  for (let url = queue.pop(); url !== undefined; url = queue.pop()) {
    const end = landing(site, url)
    const state = typeof end === 'string' ? end : outcome(end)
    pages.set(url, state)
    count[state]++
    if (typeof end === 'string' || state !== 'done') continue
    items += end.items.length
    for (const link of end.links) {
      if (seen.has(link) || !ours(site, link)) continue
      seen.add(link)
      queue.push(link)
    }
  }
  return { pages, admitted: pages.size, ...count, items }
}

const ours = (site: Site, url: string) =>
  url.startsWith(`${site.origin}/`) || url.startsWith(`${site.slowOrigin}/`)

const disallowed = (site: Site, url: string) =>
  url.startsWith(`${site.origin}/private/`) || url.startsWith(`${site.origin}/checkout`)

/** The page a URL leads to after its redirects; or its outcome when robots.txt, the scope or a loop is in the way. */
function landing(site: Site, url: string): Resource | 'ignored' | 'failed' {
  const visited = new Set<string>()
  for (;;) {
    if (!ours(site, url) || disallowed(site, url)) return 'ignored'
    if (visited.has(url)) return 'failed'
    visited.add(url)
    const resource = site.resources.get(url)
    if (!resource) throw new Error(`The demo site links to ${url}, which it does not have.`)
    if (!resource.location) return resource
    url = new URL(resource.location, url).href
  }
}

function outcome(page: Resource): 'done' | 'failed' | 'ignored' {
  if (page.status === 403 || page.status >= 500) return 'failed'
  if (page.status >= 400) return 'ignored'
  return page.type.startsWith('text/html') ? 'done' : 'ignored'
}
