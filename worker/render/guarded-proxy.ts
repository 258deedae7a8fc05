import dns from 'node:dns'
import { once } from 'node:events'
import net from 'node:net'
import { pipeline } from 'node:stream'
import type { buildConnector } from 'undici'
import type { Lookup } from '../../core/address-guard'
import type { ProxyAddress } from '../../core/proxy-address'
import { fetchConnector, proxiedConnector } from '../fetch/address-guard'
import { FetchFailure, failureOf } from '../fetch/failure'

export interface GuardedProxy {
  /** Port on 127.0.0.1. */
  port: number
  /** Why the latest connection to a host was refused or failed; undefined when there was none. */
  failure(host: string, port: number): FetchFailure | undefined
  close(): void
}

/** Failures that are remembered; a page asks for few hosts, and the reason is wanted right after. */
const REMEMBERED = 1_000
/** Milliseconds for the two short messages that a client begins with. */
const GREETING_MS = 10_000

/** Replies of SOCKS5 (RFC 1928 §6). */
const OK = 0
const FORBIDDEN = 2
const UNREACHABLE = 4

/**
 * The only way out that a browser is given: a SOCKS5 proxy on the loopback interface, which takes host names, and resolves,
 * checks and connects by itself as the plain fetcher does. So whatever a page asks for, by navigation, redirect, script or
 * websocket, is held against the same rule, and a name that answers otherwise a moment later gains nothing.
 */
export async function startGuardedProxy(options: {
  allowPrivate: boolean
  timeoutMs: number
  lookup?: Lookup | undefined
  /** One of the queue's own, which is then given what the guard allows. */
  proxy?: ProxyAddress | undefined
}): Promise<GuardedProxy> {
  const { proxy, lookup = dns.lookup, ...more } = options
  const connect = proxy ? proxiedConnector({ ...more, lookup, proxy }) : fetchConnector({ ...more, lookup })
  const failures = new Map<string, FetchFailure>()
  const clients = new Set<net.Socket>()
  const server = net.createServer((client) => {
    clients.add(client)
    // A client that breaks off is no fault; what was opened for it closes with it.
    client.on('error', () => client.destroy()).on('close', () => clients.delete(client))
    serve(client, connect, (host, port, failure) => {
      const key = `${host}:${port}`
      failures.delete(key)
      if (!failure) return
      failures.set(key, failure)
      if (failures.size > REMEMBERED) failures.delete(failures.keys().next().value!)
    }).catch(() => client.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as net.AddressInfo).port,
    failure: (host, port) => failures.get(`${host}:${port}`),
    close() {
      server.close()
      for (const client of clients) client.destroy()
    },
  }
}

async function serve(
  client: net.Socket,
  connect: buildConnector.connector,
  tell: (host: string, port: number, failure: FetchFailure | null) => void,
): Promise<void> {
  const { host, port } = await greet(client)
  let server: net.Socket
  try {
    server = await opened(connect, host, port)
    tell(host, port, null)
  } catch (error) {
    const failure = failureOf(error, `${host}:${port}`)
    if (!(failure instanceof FetchFailure)) throw error
    tell(host, port, failure)
    client.end(reply(failure.code === 'private_address' ? FORBIDDEN : UNREACHABLE))
    return
  }
  if (client.destroyed) {
    server.destroy()
    return
  }
  client.write(reply(OK))
  const over = () => {}
  pipeline(client, server, over)
  pipeline(server, client, over)
}

/** Reads the greeting and the request of a client. @throws Error for what is no CONNECT of SOCKS5. */
async function greet(client: net.Socket): Promise<{ host: string; port: number }> {
  const closed = new AbortController()
  const abort = () => closed.abort()
  client.once('close', abort).once('end', abort)
  const timer = setTimeout(abort, GREETING_MS)
  const take = async (bytes: number): Promise<Buffer> => {
    for (;;) {
      const chunk = client.read(bytes) as Buffer | null
      if (chunk?.length === bytes) return chunk
      if (chunk) throw new Error('The client broke off.')
      await once(client, 'readable', { signal: closed.signal })
    }
  }
  try {
    const [version, methods] = await take(2)
    if (version !== 5) throw new Error('Only SOCKS5 is spoken here.')
    if (methods) await take(methods)
    client.write(Buffer.from([5, 0]))
    const [, command, , kind] = await take(4)
    if (command !== 1) throw new Error('Only CONNECT is known here.')
    const host = await readHost(kind!, take)
    return { host, port: (await take(2)).readUInt16BE(0) }
  } finally {
    clearTimeout(timer)
    client.off('close', abort).off('end', abort)
  }
}

async function readHost(kind: number, take: (bytes: number) => Promise<Buffer>): Promise<string> {
  if (kind === 1) return (await take(4)).join('.')
  if (kind === 3) return (await take((await take(1))[0]!)).toString('latin1').replace(/^\[(.*)\]$/, '$1')
  if (kind !== 4) throw new Error('The address is of no known kind.')
  const bytes = await take(16)
  return Array.from({ length: 8 }, (_, n) => bytes.readUInt16BE(2 * n).toString(16)).join(':')
}

function opened(connect: buildConnector.connector, host: string, port: number): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    connect({ hostname: host, host, protocol: 'http:', port: String(port) }, (error, socket) => {
      if (error) reject(error)
      else resolve(socket!)
    })
  })
}

const reply = (code: number) => Buffer.from([5, code, 0, 1, 0, 0, 0, 0, 0, 0])
