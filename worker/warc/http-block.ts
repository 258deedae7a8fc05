import { STATUS_CODES } from 'node:http'
import { type Headers, requestHeaders } from '../fetch/headers'

/** What no longer holds for a body that is kept decoded; kept under another name, as other archives do. */
const UNDONE = new Set(['content-encoding', 'transfer-encoding'])
/** Names whose lines were folded with a line end between. */
const LINES = new Set(['set-cookie', 'x-robots-tag'])

/**
 * The answer as an HTTP message (RFC 9112 §2.1), its body decoded. Header names are in lower case, which is all that is
 * known of them; `content-length` is that of what is kept.
 */
export function responseBlock(status: number, headers: Headers, body: Buffer): Buffer {
  return Buffer.concat([responseHead(status, headers, body.length), body])
}

/** The same without the body, for a revisit record. */
export function responseHead(status: number, headers: Headers, length: number): Buffer {
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`]
  for (const [name, value] of Object.entries(headers)) {
    if (name === 'content-length') continue
    const kept = UNDONE.has(name) ? `x-orig-${name}` : name
    for (const line of LINES.has(name) ? value.split('\n') : [value]) lines.push(`${kept}: ${line}`)
  }
  lines.push(`content-length: ${length}`)
  // Bytes as they came: headers were read as Latin-1.
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}

/**
 * The request as an HTTP message. The spider's own headers and cookies are left out: they may be secrets, and archives are
 * handed on.
 */
export function requestBlock(url: string, userAgent: string): Buffer {
  const { host, pathname, search } = new URL(url)
  const flat = requestHeaders(userAgent, {}, true)
  const lines = [`GET ${pathname}${search} HTTP/1.1`, `host: ${host}`]
  for (let n = 0; n < flat.length; n += 2) lines.push(`${flat[n]}: ${flat[n + 1]}`)
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}
