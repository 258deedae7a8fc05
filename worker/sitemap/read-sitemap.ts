import { Parser } from 'htmlparser2'
import { tryWebUrl } from '../../core/url'
import { decodeXml } from '../fetch/charset'
import { type LayerState, undoCodings } from '../fetch/content-codings'

/** What a sitemap may have at most (sitemaps.org), after decompression. */
export const MAX_SITEMAP_BYTES = 50 * 1024 * 1024
const MAX_ENTRIES = 50_000

export interface SitemapEntry {
  /** As it is fetched. */
  url: string
  /** As it stands there: a W3C date, or that of a feed; null when it is no date. */
  lastmod: string | null
}

export interface Sitemap {
  /** `none`: it is no sitemap at all. */
  kind: 'index' | 'urlset' | 'text' | 'feed' | 'none'
  /** Pages, each once, in order. */
  entries: SitemapEntry[]
  /** Other sitemaps. */
  sitemaps: SitemapEntry[]
  /** Entries that are no URL of the web. */
  refused: number
  /** There was more than a sitemap may have. */
  cut: boolean
}

/**
 * Reads a sitemap of any kind: index, urlset, feed (RSS, Atom) or list of URLs, gzipped or not, whatever it is called.
 * Never throws; what is broken gives what can be read of it.
 * @param url where it was found; relative URLs, which should not be there, stand on it.
 */
export async function readSitemap(body: Buffer, contentType: string | null, url: string): Promise<Sitemap> {
  const { bytes, cut } = await unzipped(body)
  const { text } = decodeXml(bytes, contentType)
  const start = text.replace(/^[\s\ufeff\u200b]+/, '')
  const reader = new SitemapReader(url)
  if (start.startsWith('<')) reader.xml(start)
  else reader.list(start)
  return { ...reader.found, cut: cut || reader.found.cut }
}

async function unzipped(body: Buffer): Promise<{ bytes: Buffer; cut: boolean }> {
  const state: LayerState = { cap: MAX_SITEMAP_BYTES, cut: false, capped: false, layers: 0 }
  async function* source() {
    yield body
  }
  const pieces: Buffer[] = []
  for await (const piece of undoCodings(source(), ['gzip'], state)) pieces.push(piece)
  const bytes = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
  return { bytes: bytes.subarray(0, MAX_SITEMAP_BYTES), cut: bytes.length > MAX_SITEMAP_BYTES }
}

/** Elements of an entry, by their names without prefix, and what they hold. */
type Fields = Partial<Record<'loc' | 'lastmod' | 'link' | 'guid' | 'pubdate' | 'updated' | 'date', string>>
const FIELDS = new Set(['loc', 'lastmod', 'link', 'guid', 'pubdate', 'updated', 'date'])
const ENTRIES: Record<string, Sitemap['kind']> = {
  url: 'urlset',
  sitemap: 'index',
  item: 'feed',
  entry: 'feed',
}
const ROOTS: Record<string, Sitemap['kind']> = {
  urlset: 'urlset',
  sitemapindex: 'index',
  rss: 'feed',
  feed: 'feed',
  rdf: 'feed',
}

class SitemapReader {
  readonly found: Sitemap = { kind: 'none', entries: [], sitemaps: [], refused: 0, cut: false }
  readonly #seen = new Set<string>()

  constructor(readonly base: string) {}

  xml(text: string): void {
    let entry: Fields | null = null
    let kind: Sitemap['kind'] = 'none'
    const path: string[] = []
    let ended = false
    const parser = new Parser(
      {
        onopentag: (written, attributes) => {
          const name = local(written)
          if (path.length === 0) this.found.kind = ROOTS[name] ?? 'none'
          path.push(name)
          if (this.found.kind !== 'none' && entry === null && path.length > 1 && ENTRIES[name]) {
            entry = {}
            kind = ENTRIES[name]
          } else if (
            entry &&
            name === 'link' &&
            attributes.href &&
            /^(alternate)?$/.test(attributes.rel ?? '')
          )
            entry.link ??= attributes.href
          else if (entry && name === 'guid' && attributes.ispermalink?.toLowerCase() === 'false')
            path[path.length - 1] = ''
        },
        ontext: (piece) => {
          const name = path.at(-1)
          // Only the entry's own: a picture within it has a `loc` too.
          if (entry && name && FIELDS.has(name) && ENTRIES[path.at(-2) ?? '']) {
            const field = name as keyof Fields
            entry[field] = (entry[field] ?? '') + piece
          }
        },
        onclosetag: (written) => {
          const name = path.pop()
          // The file was cut within a URL, of which nobody knows the rest.
          if (entry && ended && (name === 'loc' || name === 'link')) delete entry[name]
          if (entry && name && ENTRIES[name] && local(written) === name) {
            this.#add(entry, kind)
            entry = null
          }
        },
      },
      { xmlMode: true, lowerCaseTags: true, lowerCaseAttributeNames: true, decodeEntities: true },
    )
    parser.write(text)
    ended = true
    parser.end()
  }

  list(text: string): void {
    const lines = text.split(/\r\n|\r|\n/).map((line) => line.trim())
    const urls = lines.filter((line) => line !== '' && !line.startsWith('#'))
    if (!urls.some((line) => /^https?:\/\//i.test(line))) return
    this.found.kind = 'text'
    for (const line of urls) this.#add(/^https?:\/\//i.test(line) ? { loc: line } : {}, 'text')
  }

  #add(fields: Fields, kind: Sitemap['kind']): void {
    const { found } = this
    const written = clean(kind === 'feed' ? (fields.link ?? fields.guid) : fields.loc)
    const url = written ? tryWebUrl(written, this.base) : null
    if (url === null) found.refused++
    else if (this.#seen.has(url)) return
    else if (this.#seen.size === MAX_ENTRIES) found.cut = true
    else {
      this.#seen.add(url)
      const date = clean(fields.lastmod ?? fields.updated ?? fields.pubdate ?? fields.date)
      const list = kind === 'index' ? found.sitemaps : found.entries
      list.push({ url, lastmod: date && isDate(date) ? date : null })
    }
  }
}

/** Without its prefix: `sm:loc` and `loc` are one. */
function local(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

/** Blanks of any kind around, a byte order mark included. */
function clean(text: string | undefined): string | undefined {
  return text?.replace(/^[\s\u200b]+|[\s\u200b]+$/g, '') || undefined
}

function isDate(text: string): boolean {
  const w3c = /^\d{4}(-\d\d(-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?)?)?$/i
  return (
    (w3c.test(text) || /^([A-Za-z]{3}, )?\d{1,2} [A-Za-z]{3} \d{2,4} /.test(text)) &&
    !Number.isNaN(Date.parse(text))
  )
}
