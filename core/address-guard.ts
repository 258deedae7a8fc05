import dns from 'node:dns'
import net from 'node:net'
import ipaddr from 'ipaddr.js'
import { buildConnector } from 'undici'

/** `dns.lookup` with `all: true`; tests put their own resolver here. */
export type Lookup = (
  host: string,
  options: dns.LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, addresses: dns.LookupAddress[]) => void,
) => void

/** Only these can be globally routable unicast IPv6 (RFC 4291 §2.4 with IANA's allocations). */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')

/**
 * Whether an address is globally routable unicast: none of private, loopback, link-local, shared (100.64/10),
 * benchmarking, documentation, multicast, reserved … of IANA's special-purpose registries, in either family.
 * An IPv4-mapped IPv6 address is judged as the IPv4 address it connects to; the other ways to write one address
 * within another (6to4, Teredo, NAT64, IPv4-compatible) are refused whole. What is no address is refused.
 */
export function isGlobalAddress(text: string): boolean {
  // ipaddr.js takes an IPv4-compatible address (RFC 4291 §2.5.5.1) for a mapped one.
  if (!ipaddr.isValid(text) || /^::\d+\./.test(text)) return false
  const address = ipaddr.process(text)
  if (address.range() !== 'unicast') return false
  return address.kind() === 'ipv4' || (address as ipaddr.IPv6).match(GLOBAL_UNICAST)
}

/** The error for a host at an address that is not to be connected to. */
export type Refuse = (host: string, address: string) => Error

/**
 * A resolver for `net.connect` that fails when any address of the host is not global. The socket connects to the very
 * addresses it hands on, so a name that answers otherwise a moment later (DNS rebinding) gains nothing.
 */
function guardedLookup(lookup: Lookup, refuse: Refuse): net.LookupFunction {
  return (host, options, done) => {
    lookup(host, { ...options, all: true } as dns.LookupAllOptions, (error, addresses) => {
      if (error) return done(error, [])
      const wrong = addresses.find(({ address }) => !isGlobalAddress(address))
      if (wrong) return done(refuse(host, wrong.address), [])
      const first = addresses[0]
      if (!first) return done(Object.assign(new Error(`${host} has no address`), { code: 'ENODATA' }), [])
      if (options.all) done(null, addresses)
      else done(null, first.address, first.family)
    })
  }
}

/**
 * One address of a host, for whoever connects by other means; with `allowPrivate` false, all of its addresses must be global.
 * @throws what `refuse` makes, or the resolver's error.
 */
export async function resolveAllowed(
  host: string,
  allowPrivate: boolean,
  lookup: Lookup,
  refuse: Refuse,
): Promise<string> {
  if (net.isIP(host) !== 0) {
    if (!allowPrivate && !isGlobalAddress(host)) throw refuse(host, host)
    return host
  }
  const checked = allowPrivate ? (lookup as net.LookupFunction) : guardedLookup(lookup, refuse)
  const addresses = await new Promise<dns.LookupAddress[]>((resolve, reject) => {
    checked(host, { all: true }, (error, found) =>
      error ? reject(error) : resolve(found as dns.LookupAddress[]),
    )
  })
  const [first] = addresses
  if (!first) throw Object.assign(new Error(`${host} has no address`), { code: 'ENODATA' })
  // Proxies without IPv6 are many, those without IPv4 few.
  return (addresses.find(({ family }) => family === 4) ?? first).address
}

/** Listens to a socket that is being connected; a part that was skipped took no time. */
function timesOf(socket: net.Socket, started: number): (secure: boolean) => ConnectTimes {
  let found = started
  let open: number | undefined
  socket.once('lookup', () => {
    found = performance.now()
  })
  socket.once('connect', () => {
    open = performance.now()
  })
  return (secure) => {
    const now = performance.now()
    const connectedAt = open ?? now
    return { dns: found - started, connect: connectedAt - found, tls: secure ? now - connectedAt : null }
  }
}

export interface ConnectorOptions {
  allowPrivate: boolean
  /** Milliseconds for name, connection and TLS handshake together. */
  timeoutMs: number
  refuse: Refuse
  lookup?: Lookup
  /** Told of hosts that could not be connected to. */
  failed?(host: string): void
  /** Told of each connection that was made. */
  connected?(times: ConnectTimes): void
}

/** Milliseconds that the parts of a connection took. */
export interface ConnectTimes {
  dns: number
  connect: number
  /** Null without TLS. */
  tls: number | null
}

/** Opens sockets; with `allowPrivate` false, to globally routable addresses only. */
export function guardedConnector({
  allowPrivate,
  timeoutMs,
  refuse,
  lookup = dns.lookup,
  failed,
  connected,
}: ConnectorOptions) {
  const open = buildConnector({
    timeout: timeoutMs,
    // Happy Eyeballs: a dead IPv6 address must not cost the page.
    autoSelectFamily: true,
    lookup: allowPrivate ? (lookup as net.LookupFunction) : guardedLookup(lookup, refuse),
  } as buildConnector.BuildOptions)
  const connect: buildConnector.connector = (options, done) => {
    const started = performance.now()
    // The library answers with the socket, which its types do not say.
    const socket = open(options, (...answer) => {
      if (answer[0]) failed?.(options.hostname)
      else if (times) connected?.(times(options.protocol === 'https:'))
      done(...answer)
    }) as unknown as net.Socket | undefined
    const times = connected && socket && timesOf(socket, started)
  }
  if (allowPrivate) return connect
  const guarded: buildConnector.connector = (options, done) => {
    // Node resolves no literal, so the lookup never sees one.
    if (net.isIP(options.hostname) !== 0 && !isGlobalAddress(options.hostname))
      done(refuse(options.hostname, options.hostname), null)
    else connect(options, done)
  }
  return guarded
}
