import type { Lease, NewTask } from '../../core/queue/task'
import { isTrap } from '../../core/trap'
import { LINK_VERDICTS, type LinkVerdict, type TryoutReading } from '../../core/tryout'
import { hostKey, urlId } from '../../core/url'
import type { CodeSpiders } from '../code/code-spiders'
import { CodeFailure, CodeUnusable } from '../code/code-thread'
import { readByCode } from '../code/read-by-code'
import type { Item } from '../extract/fields'
import { readPage } from '../extract/read-page'
import { decodeHtml } from '../fetch/charset'
import { documentType } from '../fetch/document-type'
import type { Fetched } from '../fetch/fetcher'
import { KnownLinks } from '../known-links'
import { type ReadDocument, readDocument } from '../read-document'
import type { Robots } from '../robots'
import type { CrawlRun } from '../run-cache'

/** What is told of one page; a person looks at it, and it goes through Redis. */
const MOST_ITEMS = 200
const MOST_LINKS = 1000
/** Characters of all items together, and of all links. */
const MOST_TEXT = 300_000
/** Characters of one value. */
const LONGEST_VALUE = 4000

/** The page as a lease of a run that began with it. */
export const leaseOf = (url: string): Lease => ({
  url,
  id: urlId(url),
  host: hostKey(url),
  depth: 0,
  priority: 0,
  run: 0,
  ref: '',
  token: '',
  deliveries: 0,
  attempts: 0,
  expiresAt: Number.POSITIVE_INFINITY,
})

/**
 * What a run of the spider would take from a page, and what it would make of each link. Reads as any visit does
 * (`read-document.ts`), so its time is bounded as there.
 * @param robots of the page's own host, to tell which of its links would not be fetched.
 */
export async function readTryout(
  fetched: Fetched,
  run: CrawlRun,
  { userAgent, robots, code }: { userAgent: string; robots: Robots | null; code: CodeSpiders },
): Promise<TryoutReading> {
  const started = performance.now()
  const lease = leaseOf(fetched.url)
  const known = new KnownLinks()
  const read = await readDocument(fetched, lease, run, { known, userAgent })
  const verdicts = linkVerdicts(fetched, lease, run, read, robots)
  const coded = await byCode(fetched, read, lease, run, { code, known })
  const listed = new Set(verdicts.map(({ url }) => url))
  for (const { url } of coded.links) if (!listed.has(url)) verdicts.push({ url, verdict: 'followed' })
  const items = [...(read.content?.items ?? []), ...coded.items]
  return {
    title: read.content?.title ?? null,
    items: shortened(items),
    itemCount: items.length,
    incomplete: read.content?.incomplete ?? 0,
    links: fitting(verdicts.slice(0, MOST_LINKS), ({ url }) => url.length),
    linkCounts: countsOf(verdicts),
    flags: read.flags,
    cut: read.cut,
    codeFault: coded.fault,
    ms: Math.round(performance.now() - started),
  }
}

/** What the spider's code adds, or why it could not. */
async function byCode(
  fetched: Fetched,
  read: ReadDocument,
  lease: Lease,
  run: CrawlRun,
  parts: { code: CodeSpiders; known: KnownLinks },
): Promise<{ items: Item[]; links: NewTask[]; fault: string | null }> {
  const name = run.spider.spider.code
  if (name === undefined || read.flags.includes('sitemap')) return { items: [], links: [], fault: null }
  try {
    return { ...(await readByCode(name, fetched, read, lease, run, parts)), fault: null }
  } catch (error) {
    if (!(error instanceof CodeFailure || error instanceof CodeUnusable)) throw error
    return { items: [], links: [], fault: error.message }
  }
}

function linkVerdicts(
  fetched: Fetched,
  lease: Lease,
  run: CrawlRun,
  read: ReadDocument,
  robots: Robots | null,
): TryoutReading['links'] {
  const { spider } = run.spider
  const host = hostKey(fetched.finalUrl)
  const closer = (url: string): LinkVerdict => {
    if (spider.follow.traps === 'skip' && isTrap(url)) return 'trap'
    return spider.robots === 'obey' && robots && hostKey(url) === host && !robots.allows(url)
      ? 'robots'
      : 'followed'
  }
  // A sitemap's links count as seeds; those out of scope are not told one by one.
  if (!read.content) return read.links.map(({ url }) => ({ url, verdict: closer(url) }))
  const taken = new Set(read.content.links)
  const nofollowPage = read.flags.includes('nofollow') && spider.robots === 'obey'
  return everyLink(fetched, run).map((url) => {
    if (nofollowPage) return { url, verdict: 'nofollowPage' }
    if (!taken.has(url)) return { url, verdict: 'nofollow' }
    const rule = run.spider.refusedBy(url, lease.depth + 1, run.seeds, fetched.finalUrl)
    return { url, verdict: rule ?? closer(url) }
  })
}

/** Those marked rel=nofollow among them. */
function everyLink({ body, contentType, finalUrl }: Fetched, { spider }: CrawlRun): string[] {
  if (documentType(body, contentType) !== 'html') return []
  const follow = { ...spider.spider.follow, nofollow: 'ignore' as const }
  const heedless = { ...spider, spider: { ...spider.spider, follow }, items: [] }
  return readPage(decodeHtml(body, contentType).text, finalUrl, heedless).links
}

function countsOf(links: TryoutReading['links']): TryoutReading['linkCounts'] {
  const counts: TryoutReading['linkCounts'] = {}
  for (const verdict of LINK_VERDICTS) {
    const count = links.filter((link) => link.verdict === verdict).length
    if (count > 0) counts[verdict] = count
  }
  return counts
}

function shortened(items: Item[]): TryoutReading['items'] {
  const short = items.slice(0, MOST_ITEMS).map(({ name, data }) => ({
    name,
    data: Object.fromEntries(Object.entries(data).map(([field, value]) => [field, shortValue(value)])),
  }))
  return fitting(short, (item) => JSON.stringify(item).length)
}

function shortValue(value: unknown): unknown {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : value
}

/** The first ones that have room together. */
function fitting<T>(list: T[], lengthOf: (one: T) => number): T[] {
  let left = MOST_TEXT
  const end = list.findIndex((one) => {
    left -= lengthOf(one)
    return left < 0
  })
  return end === -1 ? list : list.slice(0, end)
}
