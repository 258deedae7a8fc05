import { undoesZstd } from './content-codings'

/** Answer headers, folded: lower-case names, `, ` between equal ones (RFC 9110 §5.3), newline between cookies and between robots tags. */
export type Headers = Record<string, string>

/** Headers whose lines must stay apart. */
const LINES = new Set(['set-cookie', 'x-robots-tag'])

/**
 * Folds raw header pairs as bytes came. Where repetition makes no sense, one value stands: the first Location that is
 * not empty, the last Content-Type that has a slash (Fetch Standard, "extract a MIME type").
 */
export function foldHeaders(raw: readonly (Buffer | string)[]): Headers {
  const headers: Headers = Object.create(null)
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = latin1(raw[index]!).toLowerCase()
    const value = latin1(raw[index + 1]!).trim()
    const before = headers[name]
    if (before === undefined) headers[name] = value
    else if (name === 'location') headers[name] = before || value
    else if (name === 'content-type') headers[name] = value.includes('/') ? value : before
    else if (value) headers[name] = before ? before + (LINES.has(name) ? '\n' : ', ') + value : value
  }
  return headers
}

function latin1(bytes: Buffer | string): string {
  return typeof bytes === 'string' ? bytes : bytes.toString('latin1')
}

/** Content-Encoding as a list in order of application, without `identity`; empty when the body is plain. */
export function codingsOf(headers: Headers): string[] {
  const value = headers['content-encoding']
  if (!value) return []
  return value
    .split(',')
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== '' && coding !== 'identity' && coding !== 'none')
}

/** Those that a GET follows to Location (RFC 9110 §15.4). */
export const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/**
 * Where a redirect leads, or null when it names no place. Bytes beyond ASCII are percent-encoded as they are, which is
 * what browsers send back to servers that write raw UTF-8 or GBK there.
 * @throws TypeError when it is no URL.
 */
export function redirectTarget(status: number, headers: Headers, base: string): URL | null {
  const { location } = headers
  if (!REDIRECTS.has(status) || !location) return null
  const ascii = location.replace(
    /[\x80-\xff]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  const target = new URL(ascii, base)
  target.hash = ''
  return target
}

/** Names that belong to the connection, not to the spider: undici writes them itself. */
const OWN = new Set(
  'host connection keep-alive proxy-connection transfer-encoding content-length te trailer upgrade expect'.split(
    ' ',
  ),
)
/** What may be repeated to another origin: it says nothing about who asks. */
const HARMLESS = new Set(['user-agent', 'accept', 'accept-language'])

/** Flat name-value list for undici. `custom` goes over the defaults; `foreign` keeps only its harmless ones (see OWN, HARMLESS). `cookies` go beside its own. */
export function requestHeaders(
  userAgent: string,
  custom: Record<string, string>,
  foreign: boolean,
  cookies = '',
): string[] {
  const headers = new Map([
    ['user-agent', userAgent],
    ['accept', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'],
    ['accept-language', 'en,*;q=0.5'],
  ])
  for (const [name, value] of Object.entries(custom)) {
    const lower = name.toLowerCase()
    if (!OWN.has(lower) && !(foreign && !HARMLESS.has(lower))) headers.set(lower, value)
  }
  if (cookies) {
    const own = headers.get('cookie')
    headers.set('cookie', own ? `${own}; ${cookies}` : cookies)
  }
  // Not the spider's to choose: it must be what `decode-body.ts` can undo.
  headers.set('accept-encoding', `gzip, deflate, br${undoesZstd ? ', zstd' : ''}`)
  return [...headers].flat()
}
