import { sentence, UserError } from '../core/errors'
import type { Log } from '../core/log'
import { addressTurn } from '../core/queue/address-turn'
import type { Queue } from '../core/queue/queue'
import type { Lease, NewTask } from '../core/queue/task'
import { packLinks, type StoredLink } from '../core/stored-links'
import { isTrap } from '../core/trap'
import { urlHash } from '../core/url'
import type { CodeSpiders } from './code/code-spiders'
import { CodeFailure, CodeUnusable } from './code/code-thread'
import { readByCode } from './code/read-by-code'
import type { Cookies } from './cookies'
import { FetchFailure } from './fetch/failure'
import type { Fetched, Fetcher } from './fetch/fetcher'
import type { Finished } from './finisher'
import { type HostRobots, RobotsUnreachable } from './host-robots'
import type { KnownLinks } from './known-links'
import { classify, type Outcome, REASONS, retryDelayMs } from './outcome'
import { linkTask, pageLinks } from './page-links'
import { NoProxy } from './proxy/proxy-pool'
import { mayBeSitemap, readDocument } from './read-document'
import { conditionsOf, datesOf, isRevisited, revisited } from './revisit'
import type { CrawlRun } from './run-cache'
import type { SignIn } from './sign-in'
import type { PageRecord, StoredPage } from './sink/pages'
import type { LastVisit } from './sink/visits'
import { MAX_SITEMAP_BYTES } from './sitemap/read-sitemap'
import { passed } from './steps'
import { keepPage, NOTHING_KEPT, type PreviousPage } from './warc/keep-page'
import { sha1 } from './warc/record'

export interface VisitParts {
  queue: Queue
  fetcher: Fetcher
  /** What opens pages in a browser, where this worker has one. Sitemaps are not for it. */
  renderer?: Fetcher | undefined
  robots: HostRobots
  known: KnownLinks
  cookies: Cookies
  code: CodeSpiders
  signIn: SignIn
  /** Ours, for spiders without one of their own. */
  userAgent: string
  log: Log
  policy: { retryTimes: number; retryCodes: readonly number[] }
  /** Milliseconds between fetches of one host that the queue asks for at present. */
  delayMs: () => number
  /** Between fetches at one address; null for no such limit. */
  addressDelayMs: () => number | null
  run: (id: number) => Promise<CrawlRun>
  stored: (run: number, hash: Buffer) => Promise<StoredPage | null>
  previous: (run: number, hash: Buffer) => Promise<PreviousPage | null>
  lastVisit: (spider: number, hash: Buffer, signal: AbortSignal) => Promise<LastVisit | null>
  callDue: (spider: number, pages: { hash: Buffer; changedAt: Date }[]) => Promise<void>
}

/** How long a host is left alone whose page no code could be found for. */
const CODE_WAIT_MS = 15_000

/** How a visit ended: with a page to store, or with the task back in the queue. */
export type Visited = { finished: Finished } | { handedBack: 'retry' | 'released' | 'lost' }

/**
 * One begun URL from lease to outcome. Whatever the page does, this resolves; it rejects only for faults that are not the
 * page's: a dispatcher or database that cannot be reached, or a bug.
 */
export async function visit(lease: Lease, signal: AbortSignal, parts: VisitParts): Promise<Visited> {
  const run = await parts.run(lease.run)
  const hash = urlHash(lease.url, run.spider.spider.identity)
  // Read before the row: what another holder has stored since is then seen in both, or in the row alone.
  const last = isRevisited(lease, run) ? await parts.lastVisit(run.spiderId, hash, signal) : null
  if (lease.deliveries > 0 || last?.run === lease.run) {
    const stored = await parts.stored(lease.run, hash)
    // An earlier holder stored the page and was lost before it could say so: say it for it, without fetching again.
    if (stored) {
      const links = stored.links.map(({ url, ...more }) => linkTask(url, lease.depth + 1, lease, run, more))
      return { finished: { lease, state: stored.state, reason: stored.reason, record: null, links } }
    }
  }
  const started = new Date()
  const startedAt = performance.now()
  parts.log.info({ url: lease.url, run: lease.run, attempt: lease.attempts + 1 }, 'request start')

  const answer = await ask(lease, run, last, signal, parts)
  if (answer === 'released') return { handedBack: 'released' }
  passed('fetched')
  if (signal.aborted) return { handedBack: 'lost' }

  const ms = Math.round(performance.now() - startedAt)
  const outcome = settle(answer.outcome, lease, parts)
  parts.log.info(
    {
      url: lease.url,
      run: lease.run,
      state: outcome.state,
      status: answer.fetched?.status,
      reason: outcome.reason ?? undefined,
      bytes: answer.fetched?.body.length,
      ms,
    },
    'request end',
  )
  const waitMs = Math.max(retryDelayMs(lease.attempts + 1), outcome.retryAfterMs ?? 0)
  if (outcome.strain) {
    const holdMs = outcome.retryAfterMs ?? (outcome.strain === 'busy' ? waitMs : 0)
    await parts.queue.slowDown(lease.host, holdMs)
  } else if (outcome.retryAfterMs) await parts.queue.hold(lease.host, outcome.retryAfterMs)
  if (outcome.state === 'retry') {
    const reply = await parts.queue.retry(lease, waitMs)
    return { handedBack: reply === 'STALE' ? 'lost' : 'retry' }
  }
  try {
    return {
      finished: await describe(lease, run, last, outcome as SettledOutcome, answer, ms, started, parts),
    }
  } catch (error) {
    if (!(error instanceof CodeUnusable)) throw error
    // It is put right on the worker, or another worker has it: nothing is lost, and the host is not asked again and again.
    parts.log.error(
      { run: lease.run, url: lease.url, cause: sentence(error) },
      'The page waits for the spider’s code',
    )
    await parts.queue.hold(lease.host, CODE_WAIT_MS)
    await parts.queue.release([lease])
    return { handedBack: 'released' }
  }
}

interface Answer {
  outcome: Outcome
  fetched?: Fetched
  /** Those that robots.txt names, where they are to be followed from here. */
  sitemaps?: string[]
}
type SettledOutcome = Outcome & { state: PageRecord['state'] }

/** Asks robots.txt, then the page. */
async function ask(
  lease: Lease,
  run: CrawlRun,
  last: LastVisit | null,
  signal: AbortSignal,
  parts: VisitParts,
): Promise<Answer | 'released'> {
  const { spider } = run.spider
  const sitemap = mayBeSitemap(lease.url, spider)
  const conditions = await conditionsFor(lease, run, last, parts)
  const policy = {
    ...parts.policy,
    binary: sitemap,
    conditional: conditions !== null,
    wasThere: last !== null && !last.gone,
  }
  let sitemaps: string[] = []
  try {
    if (lease.referrer && spider.follow.traps === 'skip' && isTrap(lease.url))
      return { outcome: { state: 'ignored', reason: 'trap' } }
    const seed = lease.depth === 0 && !lease.referrer
    if (spider.robots === 'obey' || (spider.sitemaps === 'auto' && seed)) {
      const first = await parts.robots.needsFetch(lease.url, spider)
      if (first && (await waitsForAddress(lease, parts))) return 'released'
      const robots = await parts.robots.of(lease.url, spider)
      if (spider.sitemaps === 'auto' && seed) sitemaps = robots.sitemaps
      if (robots.crawlDelayMs && spider.robots === 'obey')
        await parts.queue.setHostDelay(lease.host, robots.crawlDelayMs)
      if (spider.robots === 'obey' && !robots.allows(lease.url))
        return { outcome: { state: 'ignored', reason: 'robots' }, sitemaps }
      // robots.txt was this turn's request to the host; the page waits for the next one, as any request does.
      if (first && (parts.delayMs() > 0 || robots.crawlDelayMs || parts.addressDelayMs() !== null)) {
        await parts.queue.release([lease])
        return 'released'
      }
    }
    if (await waitsForAddress(lease, parts)) return 'released'
    const signIn = await parts.signIn.headers(run.spiderId, lease.url)
    const fetcher = sitemap ? parts.fetcher : (parts.renderer ?? parts.fetcher)
    const fetched = await fetcher.fetch(lease.url, {
      allowPrivate: spider.allowPrivate,
      headers: { ...spider.headers, ...signIn },
      ...(spider.userAgent && { userAgent: spider.userAgent }),
      ...(spider.cookies && { cookies: parts.cookies.of(lease.run) }),
      ...(conditions && { conditions }),
      ...(sitemap && { maxBytes: MAX_SITEMAP_BYTES }),
      ...(spider.render && { render: spider.render }),
      signal,
      accept: (type) => isReadable(type) || sitemap,
      redirectAllowed: (target) => mayRedirect(target, lease, run, parts),
    })
    return { outcome: classify(fetched, policy), fetched, sitemaps }
  } catch (error) {
    if (error instanceof RobotsUnreachable)
      return { outcome: { state: 'retry', reason: 'robots_unreachable', detail: error.message } }
    if (error instanceof NoProxy) {
      // It is not the page's fault, and goes without one would: the host is left alone until there is a proxy for it.
      parts.log.warn({ url: lease.url, run: lease.run, cause: error.detail }, 'The page waits for a proxy')
      await parts.queue.hold(lease.host, error.waitMs)
      await parts.queue.release([lease])
      return 'released'
    }
    if (error instanceof FetchFailure) return { outcome: classify(error, policy), sitemaps }
    if (error instanceof UserError)
      return { outcome: { state: 'failed', reason: 'credentials', detail: error.message } }
    throw error
  }
}

/** Hosts at one address are one server, where the queue says so. What has no address is told by its fetch. */
async function waitsForAddress(
  lease: Lease,
  { queue, fetcher, addressDelayMs }: VisitParts,
): Promise<boolean> {
  const delayMs = addressDelayMs()
  if (delayMs === null) return false
  const address = await fetcher.addressOf(new URL(lease.url).hostname)
  const waitMs = address === null ? 0 : await addressTurn(queue, address, lease.host, delayMs)
  if (waitMs === 0) return false
  await queue.hold(lease.host, waitMs)
  await queue.release([lease])
  return true
}

/** A page that is to be kept and was not until now has to come whole. */
async function conditionsFor(
  lease: Lease,
  { spider: { spider } }: CrawlRun,
  last: LastVisit | null,
  parts: VisitParts,
) {
  const conditions = conditionsOf(last, spider)
  if (!conditions || spider.keep === 'none' || spider.keep === 'errors') return conditions
  const kept = await parts.previous(last!.run, urlHash(lease.url, spider.identity))
  return kept?.warc ? conditions : null
}

/**
 * A seed may be redirected anywhere (sites move to www or https), and so may what only code can have asked for, outside of the scope;
 * what links led to must stay in scope. robots.txt has a say in all.
 */
async function mayRedirect(target: string, lease: Lease, run: CrawlRun, parts: VisitParts): Promise<boolean> {
  const inScope = (url: string, from: string) => run.spider.inScope(url, lease.depth, run.seeds, from)
  const led = run.spider.spider.code === undefined || inScope(lease.url, lease.referrer ?? lease.url)
  if (lease.depth > 0 && led && !inScope(target, lease.url)) return false
  if (run.spider.spider.robots !== 'obey') return true
  return (await parts.robots.of(target, run.spider.spider)).allows(target)
}

/** With the budget used up a passing failure becomes a lasting one. */
function settle(outcome: Outcome, lease: Lease, parts: VisitParts): Outcome {
  return outcome.state === 'retry' && lease.attempts >= parts.policy.retryTimes
    ? { ...outcome, state: 'failed' }
    : outcome
}

async function describe(
  lease: Lease,
  run: CrawlRun,
  last: LastVisit | null,
  outcome: SettledOutcome,
  { fetched, sitemaps = [] }: Answer,
  ms: number,
  started: Date,
  parts: VisitParts,
): Promise<Finished> {
  const notModified = outcome.reason === 'unchanged' ? last : null
  const read =
    fetched && outcome.state === 'done' && !notModified
      ? await readDocument(fetched, lease, run, parts)
      : null
  const content = read?.content
  let items = content?.items ?? []
  let found =
    read?.links ??
    (notModified ? pageLinks(notModified.links, notModified.finalUrl, lease, run, parts.known) : [])
  if (fetched && read && run.spider.spider.code !== undefined && !read.flags.includes('sitemap')) {
    try {
      const coded = await readByCode(run.spider.spider.code, fetched, read, lease, run, parts)
      items = [...items, ...coded.items]
      found = coded.links
    } catch (error) {
      if (!(error instanceof CodeFailure)) throw error
      // What the rules took of the page stays; what the code may have missed is named, and can be tried again.
      outcome = { state: 'failed', reason: error.reason, detail: error.message }
    }
  }
  const digest = notModified?.digest ?? (fetched ? sha1(fetched.body) : null)
  const visited = revisited(last, outcome, { fetched, read, digest, at: started }, lease, run)
  const unchanged = visited?.found === 'unchanged'
  const links = [...sitemaps.map((url) => linkTask(url, lease.depth, lease, run)), ...found]
  const { spider } = run.spider
  if (read?.dated && spider.revisit.mode !== 'all' && spider.revisit.lastmod === 'heed')
    await parts.callDue(run.spiderId, datesOf(read.dated, spider))
  // What was taken counts all the same, but a coverage that ends here must be seen to.
  const cut = outcome.state === 'done' && read?.cut
  const reason = unchanged ? 'unchanged' : cut ? 'cut' : outcome.reason
  if (reason === 'cut')
    parts.log.warn({ url: lease.url, run: lease.run, links: links.length }, REASONS.cut.words)
  const hash = urlHash(lease.url, spider.identity)
  const userAgent = spider.userAgent ?? parts.userAgent
  const before = last?.run ?? run.previous
  const kept =
    fetched && digest
      ? await keepPage(
          spider.keep,
          outcome.state,
          { fetched, digest, userAgent, at: started, depth: lease.depth, referrer: lease.referrer },
          async () => (before === null ? null : parts.previous(before, hash)),
        )
      : NOTHING_KEPT
  const record: PageRecord = {
    run: lease.run,
    hash,
    url: lease.url,
    finalUrl: fetched?.finalUrl ?? null,
    state: outcome.state,
    reason,
    detail: outcome.detail?.slice(0, 500) ?? null,
    status: fetched?.status ?? null,
    title: content?.title ?? notModified?.title ?? null,
    depth: lease.depth,
    referrer: lease.referrer ?? null,
    contentType: fetched?.contentType?.slice(0, 255) ?? null,
    charset: read?.charset ?? null,
    flags: read?.flags.join(',') || null,
    bytes: fetched?.body.length ?? null,
    ms,
    attempts: lease.attempts + 1,
    deliveries: lease.deliveries + 1,
    items: unchanged ? [] : items,
    ...(spider.sinks && { sinks: spider.sinks }),
    links: packLinks(links.map((link) => storedLink(link, lease))),
    digest,
    contentRun: unchanged ? visited.visit.contentRun : null,
    ...kept,
    visit: visited && { spider: run.spiderId, visit: visited.visit },
    token: lease.token,
    fetchedAt: started,
  }
  const answered = fetched && outcome.state !== 'failed' && !outcome.strain
  return {
    lease,
    state: outcome.state,
    reason,
    record,
    links,
    ...(answered && { answerMs: fetched.headersMs }),
  }
}

/** A link with what sets it apart from others of its page. */
function storedLink({ url, priority, meta }: NewTask, lease: Lease): StoredLink {
  return { url, ...(priority !== lease.priority && { priority }), ...(meta !== undefined && { meta }) }
}

/** What is stored; only HTML is read for links and items. Pictures, archives and the like are not even downloaded. */
export const isReadable = (contentType: string | null): boolean =>
  contentType === null ||
  /^\s*(text\/|application\/(xhtml\+xml|xml|json|[\w.-]+\+(xml|json)))/i.test(contentType)
