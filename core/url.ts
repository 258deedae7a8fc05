import { hash } from 'node:crypto'
import { getDomain } from 'tldts'
import { type Fault, UserError } from './errors'
import { applyRules, NO_RULES, type UrlRules } from './url-rules'

/** Not a URL that can be crawled. The message names the URL and the reason. */
export class InvalidUrl extends UserError {
  override name = 'InvalidUrl'
}

/** Longest URL that is fetched, in bytes (it is ASCII). What is written may be twice that, to leave room for `../` and line breaks. */
const MAX_BYTES = 8192

/**
 * The URL that is fetched for what is written (WHATWG URL Standard), on `base` where it is relative:
 *
 * - parsed and resolved as browsers do: surrounding blanks and inner tabs and line breaks dropped, scheme and host in
 *   lower case, IDNA names in Punycode, IP addresses in their usual form, default port dropped, dot segments resolved;
 * - no fragment, and no trailing dot on the host;
 * - everything else as written: case, escapes, trailing slash, an empty query (`?`), the order of parameters.
 *
 * @throws InvalidUrl for anything but http and https, for credentials in the URL, and for over 8,192 bytes.
 */
export function webUrl(input: string, base?: string): string {
  const url = tryWebUrl(input, base)
  if (url === null) throw invalid(input, base)
  return url
}

/** As `webUrl`, for links by the thousand: null in place of InvalidUrl. */
export function tryWebUrl(input: string, base?: string): string | null {
  return fastForm(input, base) ?? slowForm(input, base)
}

/** The URL as browsers resolve it, of whatever scheme and with its fragment; null for what is none. */
export function resolveUrl(input: string, base?: string): string | null {
  // `canParse` first: an exception for each bad link of a page would cost far more than parsing twice.
  return URL.canParse(input, base) ? new URL(input, base).href : null
}

/**
 * The canonical form: what identifies a page, for dedupe and in the record. It is what `webUrl` gives, with
 *
 * - percent-encoding as in RFC 3986 §6.2.2: hex digits in upper case, unreserved characters plain. All others stay as
 *   written (`%2F` and `%23` are data, not separators), and where a stray `%` stands nothing is decoded, since that
 *   could make a new escape out of it;
 * - what the spider's `rules` leave out of account left out.
 *
 * canonicalise(canonicalise(u)) = canonicalise(u).
 * @throws InvalidUrl as `webUrl`.
 */
export function canonicalise(input: string, base?: string, rules: UrlRules = NO_RULES): string {
  return identity(webUrl(input, base), rules)
}

/** As `canonicalise`, with null in place of InvalidUrl. */
export function tryCanonicalise(input: string, base?: string, rules: UrlRules = NO_RULES): string | null {
  const url = tryWebUrl(input, base)
  return url === null ? null : identity(url, rules)
}

/** The canonical form of what `webUrl` gave. */
export function identity(url: string, rules: UrlRules = NO_RULES): string {
  let form = normaliseEscapes(url)
  // With a stray `%` dropped, escapes beside it may be decoded now, and so on.
  for (let before = ''; form !== before; ) {
    before = form
    form = normaliseEscapes(applyRules(form, rules))
  }
  return form
}

// Most links are plain already. These patterns accept only what the URL parser would leave exactly as it is: no escapes,
// no dot segments (a dot may not follow a slash), no Punycode, no port, a last label of letters (so no IP address).
const SEGMENT = "(?:[\\w~!$&()*+,;=:@'-][\\w~!$&()*+,;=:@'.-]*)?"
const QUERY = '(?:\\?[\\w~!$&()*+,;=:@/?.-]*)?'
const PLAIN_URL = new RegExp(`^https?://(?:[a-z0-9][a-z0-9-]*\\.)+[a-z]{2,63}(?:/${SEGMENT})+${QUERY}$`)
const PLAIN_PATH = new RegExp(`^(?!//)(?:/${SEGMENT})+${QUERY}$`)
const PLAIN_RELATIVE = new RegExp(`^[\\w~][\\w~!$&()*+,;=@'.-]*(?:/${SEGMENT})*${QUERY}$`)

function fastForm(input: string, base: string | undefined): string | null {
  const mark = input.indexOf('#')
  const written = mark === -1 ? input : input.slice(0, mark)
  let url: string
  if (PLAIN_URL.test(written) && !written.includes('xn--')) url = written
  else {
    const from = base === undefined ? null : parsedBase(base)
    if (!from) return null
    if (PLAIN_PATH.test(written)) url = from.origin + written
    else if (PLAIN_RELATIVE.test(written)) url = from.folder + written
    else return null
  }
  return url.length <= MAX_BYTES ? url : null
}

interface Base {
  text: string
  /** Canonical, without the slash: `https://example.com:8443`. */
  origin: string
  /** Canonical, with the slash: what plain relative links are put behind. */
  folder: string
}
/** The links of a page share a base, so one is remembered. */
let lastBase: Base | null = null

function parsedBase(text: string): Base | null {
  if (lastBase?.text === text) return lastBase
  const folder = slowForm('./', text)
  if (folder === null) return null
  lastBase = { text, origin: folder.slice(0, folder.indexOf('/', 8)), folder }
  return lastBase
}

function slowForm(input: string, base: string | undefined): string | null {
  if (input.length > 2 * MAX_BYTES || !URL.canParse(input, base)) return null
  const url = new URL(input, base)
  if (!isWeb(url) || url.username || url.password) return null
  if (url.hostname.endsWith('.')) {
    url.hostname = url.hostname.replace(/\.+$/, '')
    // The setter leaves the name alone when what remains is not a host.
    if (url.hostname.endsWith('.')) return null
  }
  const { href } = url
  const mark = href.indexOf('#')
  const written = mark === -1 ? href : href.slice(0, mark)
  return written.length <= MAX_BYTES ? written : null
}

function isWeb(url: URL): boolean {
  return url.protocol === 'https:' || url.protocol === 'http:'
}

/** RFC 3986 §6.2.2.1–2: `%7e` becomes `~` and `%2f` becomes `%2F`. */
function normaliseEscapes(text: string): string {
  if (!text.includes('%')) return text
  const decodes = !/%(?![0-9a-f]{2})/i.test(text)
  return text.replace(/%[0-9a-f]{2}/gi, (triplet) => {
    const character = String.fromCharCode(Number.parseInt(triplet.slice(1), 16))
    return decodes && /[\w.~-]/.test(character) ? character : triplet.toUpperCase()
  })
}

/** Why a URL was refused, in one sentence that shows no password. */
function invalid(input: string, base: string | undefined): InvalidUrl {
  const written = clip(input.trim())
  const malformed: Fault = { code: 'url_malformed', values: { url: written } }
  const long = new InvalidUrl(`"${written}" is longer than a URL may be; shorten it to 8,192 bytes.`, {
    code: 'url_long',
    values: { url: written },
  })
  if (input.length > 2 * MAX_BYTES) return long
  if (!URL.canParse(input, base))
    return new InvalidUrl(
      `"${written}" is not a URL; write scheme, host and path, such as https://example.com/page.`,
      malformed,
    )
  const url = new URL(input, base)
  if (!isWeb(url)) {
    const scheme = clip(url.protocol)
    return new InvalidUrl(
      `"${written}" has the scheme ${scheme} and cannot be crawled; give an http or https URL.`,
      { code: 'url_scheme', values: { url: written, scheme } },
    )
  }
  if (url.username || url.password)
    return new InvalidUrl(
      `The URL on ${url.host} carries a user name or password; take them out and send them as a header of the spider.`,
      { code: 'url_credentials', values: { host: url.host } },
    )
  if (url.hostname.endsWith('.'))
    return new InvalidUrl(`"${written}" has no usable host name; correct the host.`, malformed)
  return long
}

function clip(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}

/** 32 bytes: SHA-256 of the canonical form of what `webUrl` gave, by the spider's rules. */
export function urlHash(url: string, rules: UrlRules = NO_RULES): Buffer {
  return hash('sha256', identity(url, rules), 'buffer')
}

/** 22 characters: the first 16 bytes of `urlHash` in base64url. It is the key that dedupe goes by. */
export function urlId(url: string, rules: UrlRules = NO_RULES): string {
  return urlHash(url, rules).toString('base64url', 0, 16)
}

/**
 * Politeness key of a URL that `webUrl` gave: host name, and the port where it is not the scheme's default. http and https of one
 * name share it: they are one server.
 */
export function hostKey(url: string): string {
  const start = url.indexOf('//') + 2
  return url.slice(start, url.indexOf('/', start))
}

/**
 * The site a host belongs to: its registrable domain by the Public Suffix List, private suffixes included, so that
 * `a.github.io` and `b.github.io` are two sites. IP addresses, `localhost` and bare suffixes are their own site.
 */
export function site(host: string): string {
  const name = host.replace(/:\d+$/, '')
  return getDomain(name, { allowPrivateDomains: true, validateHostname: false }) ?? name
}
