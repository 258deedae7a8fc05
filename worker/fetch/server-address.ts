import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { Lookup } from '../../core/address-guard'

/**
 * The address by which a host counts as one server with others: an IPv4 address, where it has one, or the /64 network of an IPv6
 * one, of which a server has as many as it likes. Of several the first in order, for resolvers give them in turn.
 * @returns null for a name that has none, or none within `timeoutMs`; its fetch tells why.
 */
export async function serverAddress(host: string, lookup: Lookup, timeoutMs: number): Promise<string | null> {
  const bare = host.replace(/^\[|\]$/g, '')
  if (isIP(bare) !== 0) return place(bare)
  const found = await new Promise<string[]>((resolve) => {
    const late = setTimeout(resolve, timeoutMs, [])
    lookup(bare, { all: true }, (error, addresses) => {
      clearTimeout(late)
      resolve(error ? [] : addresses.map(({ address }) => place(address)))
    })
  })
  const ordered = found.sort()
  return ordered.find((address) => !address.includes(':')) ?? ordered[0] ?? null
}

function place(text: string): string {
  // An IPv4 address within an IPv6 one is the same server.
  const address = ipaddr.process(text)
  if (address instanceof ipaddr.IPv4) return address.toString()
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address.toNormalizedString()}/64`)}/64`
}
