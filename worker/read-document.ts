import type { Lease, NewTask } from '../core/queue/task'
import type { Spider } from '../core/spider'
import { type PageContent, readData, readPage } from './extract/read-page'
import { readRobotsTag } from './extract/robots-directives'
import { visibleText } from './extract/visible-text'
import { decodeHtml, decodeJson, decodeXml } from './fetch/charset'
import { documentType } from './fetch/document-type'
import type { Fetched } from './fetch/fetcher'
import type { KnownLinks } from './known-links'
import { pageLinks, sitemapLinks } from './page-links'
import { productToken } from './robots'
import type { CrawlRun } from './run-cache'
import { readSitemap, type SitemapEntry } from './sitemap/read-sitemap'
import { sha1 } from './warc/record'

export interface ReadDocument {
  /** Absent for what is neither HTML, XML nor JSON. */
  content?: PageContent
  charset: string | null
  /** Tasks for the queue. */
  links: NewTask[]
  /** Where the page leads, before any rule of scope. */
  found: string[]
  /** SHA-1 of what is taken from it, for spiders that revisit; absent for what nothing is taken from. */
  takes?: Buffer
  /** Pages that a sitemap gives a date. */
  dated?: SitemapEntry[]
  flags: Flag[]
  /** It held more than is taken. */
  cut: boolean
}

/**
 * What is worth knowing of a page beside its outcome: it asks not to be shown in an index, or that its links be left alone;
 * its HTTP was malformed and read all the same; it is a sitemap.
 */
type Flag = 'noindex' | 'nofollow' | 'lenient' | 'sitemap'

/** Reads links and items of what was fetched, by its type; sitemaps only for spiders that use them. */
export async function readDocument(
  fetched: Fetched,
  lease: Lease,
  run: CrawlRun,
  { known, userAgent }: { known: KnownLinks; userAgent: string },
): Promise<ReadDocument> {
  const { spider } = run.spider
  const { body, contentType, finalUrl } = fetched
  const type = documentType(body, contentType)
  const lenient: Flag[] = fetched.lenient ? ['lenient'] : []
  if (usesSitemaps(spider) && (type !== 'html' || beginsAsSitemap(body))) {
    const sitemap = await readSitemap(body, contentType, finalUrl)
    if (sitemap.kind !== 'none' && (sitemap.kind !== 'text' || mayBeSitemap(lease.url, spider))) {
      const links = sitemapLinks(sitemap, finalUrl, lease, run, known)
      return {
        charset: null,
        links,
        found: [],
        dated: sitemap.entries.filter(({ lastmod }) => lastmod !== null),
        flags: [...lenient, 'sitemap'],
        cut: sitemap.cut,
      }
    }
  }
  if (type === 'binary') return { charset: null, links: [], found: [], flags: lenient, cut: false }
  if (type === 'text')
    return {
      charset: decodeHtml(body, contentType).charset,
      links: [],
      found: [],
      flags: lenient,
      cut: false,
    }
  if (type !== 'html') {
    const { text, charset } = (type === 'xml' ? decodeXml : decodeJson)(body, contentType)
    const content = readData(text, type, finalUrl, run.spider)
    return {
      content,
      charset,
      links: [],
      found: [],
      ...(spider.revisit.mode !== 'all' && content.items.length > 0 && { takes: takenFrom(content, [], '') }),
      flags: lenient,
      cut: content.cut,
    }
  }
  const token = productToken(spider.userAgent ?? userAgent)
  const { text, charset } = decodeHtml(body, contentType)
  const content = readPage(text, finalUrl, run.spider, token)
  const tag = readRobotsTag(fetched.headers['x-robots-tag'], token)
  const asked = { noindex: content.noindex || tag.noindex, nofollow: content.nofollow || tag.nofollow }
  const found = asked.nofollow && spider.robots === 'obey' ? [] : content.links
  return {
    content,
    charset,
    links: pageLinks(found, finalUrl, lease, run, known),
    found,
    ...(spider.revisit.mode !== 'all' && { takes: takenFrom(content, found, spider.items ? '' : text) }),
    flags: [...lenient, ...(['noindex', 'nofollow'] as const).filter((flag) => asked[flag])],
    cut: content.cut,
  }
}

/** Without rules of its own a spider is after the text of the page, which its default item does not have. */
function takenFrom({ items }: PageContent, found: string[], html: string): Buffer {
  return sha1(Buffer.from(JSON.stringify([items, found, html && visibleText(html)])))
}

const usesSitemaps = ({ sitemaps }: Spider) => sitemaps === 'auto' || sitemaps.length > 0

function beginsAsSitemap(body: Buffer): boolean {
  return /<([\w-]+:)?(urlset|sitemapindex|rss|feed|rdf)[\s>]/i.test(body.toString('latin1', 0, 1024))
}

/** Whether a sitemap is to be expected at a URL, which then may be compressed, and longer than a page. */
export function mayBeSitemap(url: string, spider: Spider): boolean {
  if (!usesSitemaps(spider)) return false
  return (
    (spider.sitemaps !== 'auto' && spider.sitemaps.includes(url)) ||
    /(\.(xml|txt|rss|atom)(\.gz)?|\.gz)(\?|$)/i.test(url)
  )
}
