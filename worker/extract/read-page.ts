import { hostKey, resolveUrl, tryCanonicalise, tryWebUrl } from '../../core/url'
import type { CompiledSpider } from './compile-spider'
import { type Item, readItems, type Syntax } from './fields'
import { PageScan } from './page-scan'
import { collapse, firstCharacters, storable } from './text'

/** Different URLs taken from one page; further ones are left out and `cut` says so. */
export const MAX_LINKS = 100_000
const MAX_TITLE = 1000

/** What a page holds. All text is well-formed and free of NUL. */
export interface PageContent {
  /** White space collapsed, at most 1,000 characters. */
  title: string | null
  description: string | null
  /** Canonical form of what `<link rel=canonical>` names. */
  canonical: string | null
  language: string | null
  /**
   * URLs of http(s) links as they are fetched, each once, in the page's order, before any rule of scope: `a` and `area`, frames,
   * `<link rel=next|prev>` and refresh. Links with rel=nofollow are not among them when the spider obeys robots
   * and them.
   */
  links: string[]
  items: Item[]
  /** Items left out because a required field had no value. */
  incomplete: number
  /** The page's robots meta element asks that none of its links be followed. */
  nofollow: boolean
  /** It asks not to be shown in an index. */
  noindex: boolean
  /** The page had more links, elements or items than are taken; those in excess were left out. */
  cut: boolean
}

/**
 * Reads links, head and items of a page. Never throws, whatever the HTML; the time is linear in its length for links and
 * bounded for items.
 * @param url Final URL of the page, after redirects.
 * @param token Our product token, for robots meta elements that name it.
 */
export function readPage(html: string, url: string, spider: CompiledSpider, token = ''): PageContent {
  const { robots, follow } = spider.spider
  const scan = new PageScan(html, robots === 'obey' && follow.nofollow === 'obey', token.toLowerCase())
  const base = baseUrl(scan.base, url)
  const { links, cut } = resolved(scan.links, base)
  const canonical = scan.canonical === null ? null : tryCanonicalise(scan.canonical, base)
  const head = {
    title: textOrNull(firstCharacters(collapse(scan.title.slice(0, 20 * MAX_TITLE)), MAX_TITLE)),
    description: textOrNull(collapse(scan.description ?? '')),
    canonical,
    language: textOrNull(firstCharacters(scan.language ?? '', 100)),
  }
  const found =
    spider.items === null
      ? { items: [{ name: 'page', data: { ...head, ...linkCounts(links, url) } }], incomplete: 0, cut: false }
      : readItems(html, 'html', url, base, spider.items)
  return {
    ...head,
    links,
    items: found.items,
    incomplete: found.incomplete,
    nofollow: scan.nofollow,
    noindex: scan.noindex,
    cut: cut || scan.cut || found.cut,
  }
}

/** Reads the items of an answer that is data: JSON or XML. It has no links to follow and no default item. Never throws. */
export function readData(
  text: string,
  syntax: Exclude<Syntax, 'html'>,
  url: string,
  spider: CompiledSpider,
): PageContent {
  return {
    ...{ title: null, description: null, canonical: null, language: null },
    ...{ links: [], nofollow: false, noindex: false },
    ...readItems(text, syntax, url, url, spider.items ?? []),
  }
}

/** HTML Standard §4.2.3: a base that is not a URL, or of these schemes, counts as none. */
function baseUrl(written: string | null, url: string): string {
  const base = written === null ? null : resolveUrl(written, url)
  return base === null || /^(data|javascript):/.test(base) ? url : base
}

function resolved(written: Set<string>, base: string): { links: string[]; cut: boolean } {
  const links = new Set<string>()
  for (const href of written) {
    const link = tryWebUrl(href.includes('\0') ? href.replaceAll('\0', '\uFFFD') : href, base)
    if (link === null) continue
    if (links.size === MAX_LINKS && !links.has(link)) return { links: [...links], cut: true }
    links.add(link)
  }
  return { links: [...links], cut: false }
}

/** How many links stay on the page's own host (and port), and how many lead away from it. */
function linkCounts(links: string[], url: string): { linksInternal: number; linksExternal: number } {
  const host = hostKey(tryWebUrl(url) ?? url)
  let linksInternal = 0
  for (const link of links) if (hostKey(link) === host) linksInternal++
  return { linksInternal, linksExternal: links.length - linksInternal }
}

function textOrNull(text: string): string | null {
  return storable(text) || null
}
