import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, normalize } from 'node:path'

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain',
  '.pdf': 'application/pdf',
}

export interface StaticSite {
  url: string
  /** Each request in order of arrival: path, and milliseconds of the server's monotonic clock. */
  hits: { path: string; at: number }[]
  close(): Promise<void>
}

/** Serves a folder on loopback and remembers every request. */
export async function serveFolder(folder: string): Promise<StaticSite> {
  const hits: StaticSite['hits'] = []
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent((request.url ?? '/').split('?')[0]!)
    hits.push({ path, at: performance.now() })
    try {
      const body = await readFile(join(folder, normalize(path)))
      response
        .writeHead(200, {
          'content-type': TYPES[extname(path)] ?? 'application/octet-stream',
          'content-length': body.length,
        })
        .end(body)
    } catch {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('not found')
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    hits,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
