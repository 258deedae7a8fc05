import { subscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import ipaddr from 'ipaddr.js'
import { env, type Network, type TrustedProxies } from '../core/env'

const HEADER = 'x-forwarded-for'

/**
 * From now on every request to this process carries one address in X-Forwarded-For: the client's, as far as TRUSTED_PROXIES lets
 * it be believed. What a client writes there itself would otherwise be taken for its address, and the limit of attempts to sign
 * in be evaded by writing another one each time. Only here is the connection at hand; what Next hands on has none.
 */
export function nameClients(): void {
  const trusted = env().TRUSTED_PROXIES
  // Told by Node before the server's own handlers see the request.
  subscribe('http.server.request.start', (message) => {
    const { headers, socket } = (message as { request: IncomingMessage }).request
    const said = headers[HEADER]
    headers[HEADER] = clientAddress(
      socket.remoteAddress ?? '',
      Array.isArray(said) ? said.join(',') : said,
      trusted,
    )
  })
}

/**
 * The address that a request came from: from its connection back through the proxies that are trusted, each of which has added
 * the address it was asked from at the right end.
 * @param peer the address of the connection.
 * @param forwarded the X-Forwarded-For header.
 */
export function clientAddress(peer: string, forwarded: string | undefined, trusted: TrustedProxies): string {
  const hops = (forwarded ?? '').split(',').map(addressOf)
  let client = addressOf(peer)
  for (let passed = 0; client !== null && isTrusted(client, passed, trusted); passed++) {
    const before = hops.pop()
    // Nobody before it, or nothing that is an address: the proxy itself is all that is known.
    if (!before) break
    client = before
  }
  return client?.toString() ?? peer
}

function isTrusted(address: Address, passed: number, trusted: TrustedProxies): boolean {
  return typeof trusted === 'number' ? passed < trusted : isIn(address, trusted)
}

/** Whether the text is an address of one of the networks. */
export function isWithin(text: string, networks: Network[]): boolean {
  const address = addressOf(text)
  return address !== null && isIn(address, networks)
}

function isIn(address: Address, networks: Network[]): boolean {
  return networks.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits))
}

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** An address, some proxies add the port; IPv4 in the guise of IPv6 is IPv4. */
function addressOf(text: string): Address | null {
  const bare = text
    .trim()
    .replace(/^\[(.*)\](:\d+)?$/, '$1')
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
  return ipaddr.isValid(bare) ? ipaddr.process(bare) : null
}
