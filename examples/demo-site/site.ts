import { goodsPages } from './goods-pages'
import { oddPages } from './odd-pages'
import type { Resource, Site } from './resource'
import { textPages } from './text-pages'

/**
 * The demo site as a model: every address it answers, what it says there, where its links lead and which items the
 * example spider (`examples/demo.json`) should find. The server serves this model and the expected outcome is computed
 * from it, so the two cannot drift apart.
 *
 * Two hosts: the shop at `origin`, and a slow supplier at `slowOrigin`.
 */
export function demoSite(origin: string, slowOrigin: string): Site {
  const resources = new Map<string, Resource>()
  const site: Site = { origin, slowOrigin, resources }
  for (const pages of [goodsPages, textPages, oddPages])
    for (const resource of pages(site)) {
      if (resources.has(resource.url))
        throw new Error(`The demo site has two pages at ${resource.url}; give one another path.`)
      resources.set(resource.url, resource)
    }
  return site
}
