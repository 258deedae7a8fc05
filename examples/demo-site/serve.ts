import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import iconv from 'iconv-lite'
import { sentence, UserError } from '../../core/errors'
import type { Resource, Site } from './resource'
import { demoSite } from './site'

export interface Hit {
  /** Milliseconds since the epoch. */
  at: number
  url: string
  status: number
}

export interface DemoServer {
  /** Home page of the shop: the seed. */
  url: string
  site: Site
  /** The newest requests, oldest first. */
  log: Hit[]
  close(): Promise<void>
}

const LOGGED = 20_000

/**
 * Serves the demo shop on `port` and its slow supplier on the next one (0: two free ports).
 * @throws UserError when a port is taken or the address is not this machine's.
 */
export async function serveDemoSite({ port = 0, host = '127.0.0.1' } = {}): Promise<DemoServer> {
  let site: Site | undefined
  const log: Hit[] = []
  const visits = new Map<string, number>()
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const { port } = request.socket.address() as AddressInfo
    const url = `http://${host}:${port}${request.url}`
    const resource = site?.resources.get(url)
    const visit = (visits.get(url) ?? 0) + 1
    visits.set(url, visit)
    const status = resource?.busyFirst && visit % 2 === 1 ? 503 : (resource?.status ?? 404)
    if (log.push({ at: Date.now(), url, status }) > LOGGED) log.shift()
    setTimeout(() => respond(request, response, status, resource), resource?.delayMs ?? 0)
  }
  const servers = [createServer(answer), createServer(answer)] as const
  const close = async () => {
    await Promise.all(
      servers.map(
        (server) =>
          new Promise((resolve) => {
            server.close(resolve)
            server.closeAllConnections()
          }),
      ),
    )
  }
  try {
    await listen(servers[0], port, host)
    await listen(servers[1], port === 0 ? 0 : port + 1, host)
  } catch (error) {
    await close()
    throw new UserError(
      `The demo site can't listen on ${host} port ${port} and the next (${sentence(error)}); give another port, or 0 for any free one.`,
    )
  }
  const [origin, slowOrigin] = servers.map(
    (server) => `http://${host}:${(server.address() as AddressInfo).port}`,
  )
  site = demoSite(origin!, slowOrigin!)
  return { url: `${origin}/`, site, log, close }
}

async function listen(server: Server, port: number, host: string): Promise<void> {
  server.listen(port, host)
  await once(server, 'listening')
}

function respond(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  resource: Resource | undefined,
) {
  const headers: Record<string, string> = { 'content-type': resource?.type ?? 'text/plain; charset=utf-8' }
  if (status === 503) headers['retry-after'] = '1'
  if (resource?.location) headers.location = resource.location
  let body = encode(
    status === 503 ? 'One moment, please.' : (resource?.body ?? 'There is no such page.'),
    resource,
  )
  const accepted = String(request.headers['accept-encoding'] ?? '')
  if (resource?.compress && accepted.includes(resource.compress)) {
    body = resource.compress === 'br' ? brotliCompressSync(body) : gzipSync(body)
    headers['content-encoding'] = resource.compress
  }
  headers['content-length'] = String(body.length)
  response.writeHead(status, headers)
  response.end(request.method === 'HEAD' ? undefined : body)
}

function encode(body: string | Buffer, resource: Resource | undefined): Buffer {
  return typeof body === 'string' ? iconv.encode(body, resource?.charset ?? 'utf-8') : body
}
