import type { Lease } from '../core/queue/task'
import type { Spider } from '../core/spider'
import { urlHash } from '../core/url'
import type { Fetched, FetchRequest } from './fetch/fetcher'
import type { Headers } from './fetch/headers'
import type { Outcome } from './outcome'
import { mayBeSitemap, type ReadDocument } from './read-document'
import type { CrawlRun } from './run-cache'
import type { LastVisit } from './sink/visits'
import { latestOf } from './sitemap/lastmod'
import type { SitemapEntry } from './sitemap/read-sitemap'
import { sha1 } from './warc/record'

/** Raised when pages are read in another way than before: then none counts as unchanged. */
const READING = 1

/**
 * Whether what the spider found the last time matters for this URL. Sitemaps are always read anew: what they list is what is
 * new. So are the pages of code, which may ask for what stands on no page.
 */
export function isRevisited({ url }: Lease, { spider: { spider } }: CrawlRun): boolean {
  return spider.revisit.mode !== 'all' && spider.code === undefined && !mayBeSitemap(url, spider)
}

/** SHA-1 of what of a spider decides what is taken from a page, and which page it is shown. */
export function rulesOf({ items, robots, follow, userAgent, headers }: Spider): Buffer {
  return sha1(
    Buffer.from(
      JSON.stringify([READING, items, robots, follow.nofollow, follow.scope === 'none', userAgent, headers]),
    ),
  )
}

/** Whether a page has to be asked for in this run. */
export function isDue(last: LastVisit, spider: Spider, now: Date): boolean {
  const { mode } = spider.revisit
  // What was taken by other rules says nothing.
  if (!last.rules.equals(rulesOf(spider))) return true
  const called = last.dueAt <= last.visitedAt
  if (mode === 'due') return last.dueAt <= now
  return mode === 'new' ? called : true
}

/**
 * What asks for a page on condition that it has changed (RFC 9110 §13.1), or null where it must come whole: nothing reliable is
 * known to ask by, or what the last visit took would not do in its place.
 */
export function conditionsOf(
  last: LastVisit | null,
  spider: Spider,
): NonNullable<FetchRequest['conditions']> | null {
  if (!last || last.gone || !last.trusted || last.streak >= spider.revisit.verify) return null
  if (!last.rules.equals(rulesOf(spider))) return null
  const headers = {
    ...(last.etag && { 'if-none-match': last.etag }),
    ...(last.lastModified && { 'if-modified-since': last.lastModified }),
  }
  return Object.keys(headers).length > 0 ? { url: last.finalUrl, headers } : null
}

type Validators = Pick<LastVisit, 'etag' | 'lastModified'>
const NO_VALIDATORS: Validators = { etag: null, lastModified: null }
const ENTITY_TAG = /^(W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/**
 * The validators of an answer. A Last-Modified counts only when the answer is at least a second younger (RFC 9110 §8.8.2.2):
 * within one second a page may change twice.
 */
export function validatorsOf(headers: Headers): Validators {
  const { etag = '', date = '' } = headers
  const modified = headers['last-modified'] ?? ''
  const old = HTTP_DATE.test(modified) && Date.parse(date) - Date.parse(modified) >= 1000
  return {
    etag: ENTITY_TAG.test(etag) && etag.length <= 500 ? etag : null,
    lastModified: old ? modified : null,
  }
}

export interface Revisited {
  /** The page is as it was: its items stand in `visit.contentRun`. */
  found: 'changed' | 'unchanged' | 'gone'
  /** What is to be known of the page from now on. */
  visit: LastVisit
}

interface Seen {
  fetched: Fetched | undefined
  /** Null for what was not read: the page is not there, or as it was. */
  read: ReadDocument | null
  digest: Buffer | null
  at: Date
}

/** Compares a page with what its spider found there before; null when that is none of the spider's interest, or the visit says nothing of it. */
export function revisited(
  last: LastVisit | null,
  { state, reason }: Pick<Outcome, 'state' | 'reason'>,
  { fetched, read, digest, at }: Seen,
  lease: Lease,
  run: CrawlRun,
): Revisited | null {
  if (!isRevisited(lease, run) || !fetched || !digest) return null
  const { spider } = run.spider
  if (last && reason === 'gone') {
    const visit = { ...last, run: lease.run, gone: true, links: [] }
    return { found: 'gone', visit: { ...visit, ...nextVisit(last, 'unchanged', spider, at) } }
  }
  if (last && reason === 'unchanged') {
    const visit = { ...last, run: lease.run, streak: last.streak + 1 }
    return { found: 'unchanged', visit: { ...visit, ...nextVisit(last, 'unchanged', spider, at) } }
  }
  if (state !== 'done' || !read || read.flags.includes('sitemap')) return null
  const extract = read.takes ?? digest
  const rules = rulesOf(spider)
  const comparable = last !== null && !last.gone && last.rules.equals(rules)
  const found =
    comparable && (last.digest.equals(digest) || last.extract.equals(extract)) ? 'unchanged' : 'changed'
  // Those of a rendered page speak of what its scripts began with.
  const validators =
    fetched.status === 200 && !fetched.rendered ? validatorsOf(fetched.headers) : NO_VALIDATORS
  // The server would have called it "not modified".
  const lied = comparable && found === 'changed' && sameValidators(last, validators)
  return {
    found,
    visit: {
      run: lease.run,
      contentRun: found === 'unchanged' ? last!.contentRun : lease.run,
      gone: false,
      title: read.content?.title ?? null,
      finalUrl: fetched.finalUrl,
      ...validators,
      trusted: (last?.trusted ?? true) && !lied,
      streak: 0,
      digest,
      extract,
      rules,
      links: spider.follow.scope === 'none' ? [] : read.found,
      ...nextVisit(last, found, spider, at),
    },
  }
}

/** RFC 9110 §13.2.2: where there is an ETag, the date counts for nothing. */
function sameValidators(a: Validators, b: Validators): boolean {
  return a.etag ? a.etag === b.etag : a.lastModified !== null && a.lastModified === b.lastModified
}

/** What a sitemap's dates say of its pages. */
export function datesOf(entries: SitemapEntry[], { identity }: Spider): { hash: Buffer; changedAt: Date }[] {
  return entries.flatMap(({ url, lastmod }) => {
    const changedAt = latestOf(lastmod)
    return changedAt ? [{ hash: urlHash(url, identity), changedAt }] : []
  })
}

/** The interval of Nutch's adaptive schedule: two fifths longer for a page that is as it was, a fifth shorter for one that is not. */
function nextVisit(last: LastVisit | null, found: 'changed' | 'unchanged', { revisit }: Spider, at: Date) {
  const next = last === null ? revisit.first : last.intervalSeconds * (found === 'changed' ? 0.8 : 1.4)
  const intervalSeconds = Math.round(Math.min(Math.max(next, revisit.min), revisit.max))
  return { intervalSeconds, visitedAt: at, dueAt: new Date(at.getTime() + intervalSeconds * 1000) }
}
