import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface GraphSite {
  url: string
  /** Every URL that can be reached from `url`, itself included: what a whole crawl must hold. */
  reachable: Set<string>
  /** Arrivals by path, in milliseconds of the server's monotonic clock; robots.txt apart. */
  hits: Map<string, number[]>
  close(): Promise<void>
}

/**
 * A site whose link graph is known without crawling it: page i links to 3i+1 … 3i+3, back to its parent, and to two pages far
 * away; the first page links to `wide` pages at once.
 */
export async function serveGraph(
  pages: number,
  options: { wide?: number; delayMs?: number } = {},
): Promise<GraphSite> {
  const { wide = 0, delayMs = 0 } = options
  const hits: GraphSite['hits'] = new Map()
  const body = (n: number) => {
    const links = [
      3 * n + 1,
      3 * n + 2,
      3 * n + 3,
      Math.floor((n - 1) / 3),
      (n * 7919) % pages,
      (n * 104729) % pages,
    ]
    if (n === 0) for (let i = 1; i <= wide; i++) links.push(pages - i)
    return `<!doctype html><title>Page ${n}</title>${links
      .filter((to) => to >= 0 && to < pages)
      .map((to) => `<a href="/p/${to}">${to}</a>`)
      .join('\n')}`
  }
  const server = createServer((request, response) => {
    const path = request.url ?? '/'
    if (path === '/robots.txt') return response.writeHead(404).end()
    hits.set(path, [...(hits.get(path) ?? []), performance.now()])
    const n = Number(/^\/p\/(\d+)$/.exec(path)?.[1])
    if (!(n < pages)) return response.writeHead(404).end()
    setTimeout(
      () => response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(body(n)),
      delayMs,
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: `${origin}/p/0`,
    reachable: new Set(Array.from({ length: pages }, (_, n) => `${origin}/p/${n}`)),
    hits,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
