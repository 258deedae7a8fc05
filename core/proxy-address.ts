import { UserError } from './errors'

/** How the next proxy is chosen: in turn, the same for each host, or by how well each does. */
export const PROXY_ROTATIONS = ['turn', 'host', 'health'] as const
export type ProxyRotation = (typeof PROXY_ROTATIONS)[number]

/** A proxy that is connected to; `user` and `password` are secrets. */
export interface ProxyAddress {
  protocol: 'http:' | 'https:' | 'socks5:'
  hostname: string
  port: number
  user?: string
  password?: string
}

const PORTS = { 'http:': 80, 'https:': 443, 'socks5:': 1080 }

/**
 * Reads a proxy as people write it, such as `socks5://user:password@proxy.example:1080`.
 * @throws UserError that does not repeat what was written: it may hold a password.
 */
export function readProxy(text: string): ProxyAddress {
  const wrong = new UserError(
    'That is not a proxy; write http://, https:// or socks5://, user:password@ where it has them, host and port.',
    { code: 'proxy_malformed' },
  )
  let url: URL
  try {
    // Schemes that are special to URLs are read alike: hosts in lower case, no path.
    url = new URL(text.trim().replace(/^socks5h?:/i, 'socks5:'))
  } catch {
    throw wrong
  }
  const protocol = url.protocol as ProxyAddress['protocol']
  const bare = (url.pathname === '' || url.pathname === '/') && url.search === '' && url.hash === ''
  if (!(protocol in PORTS) || url.hostname === '' || !bare) throw wrong
  try {
    return {
      protocol,
      hostname: url.hostname.replace(/^\[|\]$/g, '').toLowerCase(),
      port: Number(url.port) || PORTS[protocol],
      ...(url.username && { user: decodeURIComponent(url.username) }),
      ...(url.password && { password: decodeURIComponent(url.password) }),
    }
  } catch {
    throw wrong
  }
}

/** The proxy without what is secret of it: for logs, messages and the console. */
export function shownProxy({ protocol, hostname, port }: ProxyAddress): string {
  return `${protocol}//${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`
}

/** To what the secrets of a queue's proxy are bound when they are sealed. */
export const proxyPlace = (queue: string, shown: string) => `${queue} ${shown}`
