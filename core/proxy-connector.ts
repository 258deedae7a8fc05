import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import net from 'node:net'
import { SocksClient, SocksClientError } from 'socks'
import { buildConnector } from 'undici'
import { type Lookup, type Refuse, resolveAllowed } from './address-guard'
import { sentence } from './errors'
import { type ProxyAddress, shownProxy } from './proxy-address'

/** A proxy did not do what it is there for. */
export class ProxyFault extends Error {
  override name = 'ProxyFault'
  constructor(
    /** `proxy`: it cannot be used; `target`: it works, and cannot reach where it was to lead. */
    readonly whose: 'proxy' | 'target',
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

export interface ProxyConnectorOptions {
  proxy: ProxyAddress
  allowPrivate: boolean
  /** Milliseconds for all of it: the name, the proxy, the way through it, TLS. */
  timeoutMs: number
  lookup: Lookup
  refuse: Refuse
}

/**
 * Opens sockets through a proxy. The name is resolved here and the proxy is given an address, never a name: what the address
 * guard has allowed is where the connection goes, whatever the proxy's own resolver says. The proxy has to allow tunnels
 * (CONNECT) to the ports that are crawled. The proxy itself may be at any address: an operator has entered it.
 */
export function proxyConnector(options: ProxyConnectorOptions): buildConnector.connector {
  const secure = buildConnector({ timeout: options.timeoutMs })
  return (target, done) => {
    throughProxy(options, target).then(
      (socket) => {
        if (target.protocol === 'https:') secure({ ...target, httpSocket: socket }, done)
        else done(null, socket.setNoDelay(true))
      },
      (error) => done(error, null),
    )
  }
}

async function throughProxy(
  { proxy, allowPrivate, timeoutMs, lookup, refuse }: ProxyConnectorOptions,
  { hostname, port, protocol }: { hostname: string; port: string; protocol: string },
): Promise<net.Socket> {
  const address = await resolveAllowed(hostname, allowPrivate, lookup, refuse)
  const number = Number(port) || (protocol === 'https:' ? 443 : 80)
  return openTunnel(proxy, { address, port: number }, timeoutMs)
}

/** A connection through the proxy to an address. @throws ProxyFault, whose words have nothing that is secret. */
export function openTunnel(
  proxy: ProxyAddress,
  target: { address: string; port: number },
  timeoutMs: number,
): Promise<net.Socket> {
  return proxy.protocol === 'socks5:'
    ? socksTunnel(proxy, target, timeoutMs)
    : connectTunnel(proxy, target, timeoutMs)
}

/** Answers of a proxy to CONNECT that speak of where it was to lead. */
const UNREACHED = new Set([502, 503, 504])

async function connectTunnel(
  proxy: ProxyAddress,
  { address, port }: { address: string; port: number },
  timeoutMs: number,
): Promise<net.Socket> {
  const authority = `${net.isIPv6(address) ? `[${address}]` : address}:${port}`
  const pair = Buffer.from(`${proxy.user ?? ''}:${proxy.password ?? ''}`, 'utf8').toString('base64')
  const request = (proxy.protocol === 'https:' ? https : http).request({
    method: 'CONNECT',
    host: proxy.hostname,
    port: proxy.port,
    path: authority,
    agent: false,
    signal: AbortSignal.timeout(timeoutMs),
    headers: {
      host: authority,
      ...(proxy.user !== undefined && { 'proxy-authorization': `Basic ${pair}` }),
    },
  })
  const shown = shownProxy(proxy)
  try {
    request.end()
    // What is no answer to CONNECT comes as a response.
    const answered = once(request, 'connect') as Promise<[http.IncomingMessage, net.Socket, Buffer]>
    const [response, socket, head] = await answered
    const status = response.statusCode ?? 0
    if (status < 200 || status > 299) {
      socket.destroy()
      throw UNREACHED.has(status)
        ? new ProxyFault('target', `${shown} does not reach ${authority}: it answers ${status}`)
        : new ProxyFault('proxy', `${shown} refuses the way to ${authority}: it answers ${status}`)
    }
    if (head.length > 0) socket.unshift(head)
    return socket
  } catch (error) {
    request.destroy()
    if (error instanceof ProxyFault) throw error
    throw new ProxyFault('proxy', `${shown} does not serve: ${reasonOf(error)}`)
  }
}

/** What of the words of `socks` speaks of the target (RFC 1928 §6): network or host unreachable, refused, expired. */
const SOCKS_TARGET = /NetworkUnreachable|HostUnreachable|ConnectionRefused|TTLExpired/

async function socksTunnel(
  { hostname, port, user, password }: ProxyAddress,
  target: { address: string; port: number },
  timeoutMs: number,
): Promise<net.Socket> {
  const shown = shownProxy({ protocol: 'socks5:', hostname, port })
  try {
    const { socket } = await SocksClient.createConnection({
      proxy: {
        host: hostname,
        port,
        type: 5,
        ...(user !== undefined && { userId: user, password: password ?? '' }),
      },
      command: 'connect',
      destination: { host: target.address, port: target.port },
      timeout: timeoutMs,
    })
    return socket
  } catch (error) {
    const words = reasonOf(error)
    if (error instanceof SocksClientError && SOCKS_TARGET.test(words))
      throw new ProxyFault('target', `${shown} does not reach ${target.address}:${target.port}: ${words}`)
    throw new ProxyFault('proxy', `${shown} does not serve: ${words}`)
  }
}

/** The error in words. `socks` carries the proxy with its password in `options`: the error itself goes no further. */
function reasonOf(error: unknown): string {
  const { name, code } = error as NodeJS.ErrnoException
  if (name === 'AbortError' || name === 'TimeoutError') return 'no answer in time'
  return code ?? sentence(error)
}
