import { tryWebUrl } from '../core/url'

/** What a site's robots.txt says to one crawler. */
export interface Robots {
  /** Whether the URL may be fetched. `/robots.txt` itself always may. */
  allows(url: string): boolean
  /** The line that decides about the URL; null when none speaks of it, which allows it. */
  decidingLine(url: string): RobotsLine | null
  /** The User-agent names whose groups apply, as a rule matches them: the crawler's own token, or `*`; null for none. */
  group: string | null
  /** Milliseconds between two requests that the site asks for (at most a day); null when it does not say. */
  crawlDelayMs: number | null
  /** URLs of sitemaps, whichever group they stand in. */
  sitemaps: string[]
}

export interface RobotsLine {
  /** Counted from 1. */
  number: number
  /** As it stands there, without blanks around it. */
  text: string
}

/** RFC 9309 §2.5 asks for at least 500 KiB; what stands behind that is not read. */
const MAX_LENGTH = 500 * 1024
const MAX_DELAY_MS = 86_400_000

/**
 * Reads a robots.txt (RFC 9309) for one crawler. Never throws: what cannot be understood is passed over, so an empty or
 * garbled file allows everything.
 * @param agent The crawler's product token, or its User-Agent, of which the first word up to a slash is the token.
 */
export function parseRobots(body: string | Buffer, agent: string): Robots {
  const groups = readGroups(lines(body))
  const token = productToken(agent)
  const named = groups.list.filter((group) => token && group.agents.includes(token))
  // §2.2.1: all groups that name the crawler count as one; those for `*` apply only when none does.
  const mine = named.length > 0 ? named : groups.list.filter((group) => group.agents.includes('*'))
  // The most specific first, and of equals those that allow: so the first that matches decides (§2.2.2).
  const rules = mine
    .flatMap((group) => group.rules)
    .sort((a, b) => b.octets - a.octets || Number(b.allows) - Number(a.allows))
  const delays = mine.flatMap((group) => group.delays)
  const deciding = (url: string) => {
    const path = pathOf(url)
    return path === '/robots.txt' ? undefined : rules.find((rule) => rule.matches(path))
  }
  return {
    allows: (url) => deciding(url)?.allows ?? true,
    decidingLine: (url) => deciding(url)?.line ?? null,
    group: mine.length === 0 ? null : named.length > 0 ? token : '*',
    crawlDelayMs: delays.length > 0 ? Math.min(Math.max(...delays) * 1000, MAX_DELAY_MS) : null,
    sitemaps: [...new Set(groups.sitemaps)],
  }
}

function lines(body: string | Buffer): string[] {
  const cut = body.length > MAX_LENGTH
  const head = body.slice(0, MAX_LENGTH)
  // Not UTF-8 here and there must not cost the whole file: such bytes become U+FFFD. The decoder drops a BOM.
  const text = (typeof head === 'string' ? head : new TextDecoder().decode(withoutBom(head))).replace(
    /^\uFEFF/,
    '',
  )
  const all = text.split(/\r\n|\r|\n/)
  // Half a line at the limit could say something else than the whole one.
  if (cut) all.pop()
  return all
}

/** Some editors leave only the first bytes of the mark, which would spoil the first line. */
function withoutBom(bytes: Buffer): Buffer {
  const mark = [0xef, 0xbb, 0xbf]
  let length = 0
  while (length < 3 && bytes[length] === mark[length]) length++
  return bytes.subarray(length)
}

interface Group {
  agents: string[]
  rules: Rule[]
  /** Seconds. */
  delays: number[]
}

interface Rule {
  allows: boolean
  line: RobotsLine
  /** How specific it is: octets of the path it stands for. */
  octets: number
  matches(path: string): boolean
}

function readGroups(all: string[]): { list: Group[]; sitemaps: string[] } {
  const list: Group[] = []
  const sitemaps: string[] = []
  let group: Group | null = null
  // True from a User-agent line to the next rule: more User-agent lines then join the group. Records of other kinds between
  // them change nothing (§2.2.4).
  let naming = false
  for (const [n, line] of all.entries()) {
    const record = readRecord(line)
    if (!record) continue
    const { value } = record
    switch (record.key) {
      case 'user-agent':
        if (!group || !naming) {
          group = { agents: [], rules: [], delays: [] }
          list.push(group)
        }
        naming = true
        group.agents.push(productToken(value))
        break
      case 'allow':
      case 'disallow':
        naming = false
        // An empty rule rules nothing; before the first User-agent line a rule is for nobody.
        if (group && value)
          group.rules.push({
            allows: record.key === 'allow',
            line: { number: n + 1, text: line.trim() },
            ...compilePattern(value),
          })
        break
      case 'crawl-delay': {
        const seconds = Number(value)
        if (group && value && seconds >= 0 && Number.isFinite(seconds)) group.delays.push(seconds)
        break
      }
      case 'sitemap': {
        const url = tryWebUrl(value)
        if (url !== null) sitemaps.push(url)
      }
    }
  }
  return { list, sitemaps }
}

/** Misspelled keys that are common enough for the large search engines to obey them. */
const SPELLINGS: Record<string, string> = {
  useragent: 'user-agent',
  'user agent': 'user-agent',
  dissallow: 'disallow',
  dissalow: 'disallow',
  disalow: 'disallow',
  diasllow: 'disallow',
  disallaw: 'disallow',
  'site-map': 'sitemap',
  crawldelay: 'crawl-delay',
}

function readRecord(line: string): { key: string; value: string } | null {
  const text = (line.includes('#') ? line.slice(0, line.indexOf('#')) : line).trim()
  const colon = text.indexOf(':')
  // A blank in place of the colon is a common slip (`Disallow /private`).
  const end = colon === -1 ? text.search(/[ \t]/) : colon
  if (end < 1) return null
  const key = text.slice(0, end).trim().toLowerCase()
  return { key: SPELLINGS[key] ?? key, value: text.slice(end + 1).trim() }
}

/** `ExampleBot/1.0 (+https://…)` → `examplebot`; `*` stays. Matching ignores case (§2.2.1). */
export function productToken(agent: string): string {
  const text = agent.trim()
  if (/^\*(\s|$)/.test(text)) return '*'
  return text.match(/^[\w-]+/)?.[0].toLowerCase() ?? ''
}

/**
 * Pieces between `*` are looked for one after the other, each at its first chance. That finds a match whenever there is one,
 * and never looks at a character of the path twice for one piece: no pattern can make it slow.
 */
function compilePattern(pattern: string): Pick<Rule, 'octets' | 'matches'> {
  const anchored = pattern.endsWith('$')
  const [head = '', ...pieces] = comparable(anchored ? pattern.slice(0, -1) : pattern, '*').split(/\*+/)
  const last = anchored && pieces.length > 0 ? pieces.pop()! : null
  return {
    octets: octetsOf(pattern),
    matches: (path) => {
      if (!path.startsWith(head)) return false
      let at = head.length
      for (const piece of pieces) {
        const found = path.indexOf(piece, at)
        if (found === -1) return false
        at = found + piece.length
      }
      if (last !== null) return path.length - last.length >= at && path.endsWith(last)
      return !anchored || at === path.length
    },
  }
}

/** Each `%XX` is one octet, as is each byte of other characters in UTF-8. */
function octetsOf(pattern: string): number {
  return Buffer.byteLength(pattern.replace(/%[0-9a-f]{2}/gi, '.'))
}

/** Path and query of a URL. */
function pathOf(url: string): string {
  const rest = url.slice(url.indexOf('//') + 2)
  const start = rest.search(/[/?#]/)
  const written = start === -1 ? '' : rest.slice(start).replace(/#.*$/s, '')
  return comparable(written.startsWith('/') ? written : `/${written}`)
}

/**
 * The form in which the paths of URLs and rules are compared (§2.2.2): one way of writing for each character, whether it
 * came escaped or not. In the path `/` and `%2F` stay two things, in the query they are one. A `*` or `$` that is meant as
 * itself is an escape, so that what is left of them has its special meaning.
 */
function comparable(text: string, special = ''): string {
  if (/^[\w.~/-]*$/.test(text)) return text
  const query = text.indexOf('?')
  return text.replace(/%[0-9a-f]{2}|./gisu, (part, at: number) => {
    if (part.length === 3 && part[0] === '%') {
      const character = String.fromCharCode(Number.parseInt(part.slice(1), 16))
      const plain = /[\w.~:@!'(),;[\]-]/.test(character) || (character === '/' && query !== -1 && at > query)
      return plain ? character : part.toUpperCase()
    }
    if (part === special || /[\w.~/?&=+:@!'(),;[\]-]/.test(part)) return part
    return [...Buffer.from(part)]
      .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
      .join('')
  })
}
