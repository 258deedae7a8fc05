import { deflateRawSync } from 'node:zlib'
import type { Log } from '../core/log'
import type { Queue } from '../core/queue/queue'
import type { Lease, NewTask } from '../core/queue/task'
import { hostKey, urlHash, urlId } from '../core/url'
import { type PageContent, readPage } from './extract/read-page'
import { decodeHtml } from './fetch/charset'
import { FetchFailure } from './fetch/failure'
import type { Fetched, Fetcher } from './fetch/fetcher'
import type { Finished } from './finisher'
import { type HostRobots, RobotsUnreachable } from './host-robots'
import type { KnownLinks } from './known-links'
import { classify, type Outcome, REASONS, retryDelayMs } from './outcome'
import type { CrawlRun } from './run-cache'
import type { PageRecord, StoredPage } from './sink/pages'
import { passed } from './steps'

export interface VisitParts {
  queue: Queue
  fetcher: Fetcher
  robots: HostRobots
  known: KnownLinks
  log: Log
  policy: { retryTimes: number; retryCodes: readonly number[] }
  /** Milliseconds between fetches of one host that the queue asks for at present. */
  delayMs: () => number
  run: (id: number) => Promise<CrawlRun>
  stored: (run: number, hash: Buffer) => Promise<StoredPage | null>
}

/** How a visit ended: with a page to store, or with the task back in the queue. */
export type Visited = { finished: Finished } | { handedBack: 'retry' | 'released' | 'lost' }

/**
 * One begun URL from lease to outcome. Whatever the page does, this resolves; it rejects only for faults that are not the
 * page's: a dispatcher or database that cannot be reached, or a bug.
 */
export async function visit(lease: Lease, signal: AbortSignal, parts: VisitParts): Promise<Visited> {
  const run = await parts.run(lease.run)
  if (lease.deliveries > 0) {
    const stored = await parts.stored(lease.run, urlHash(lease.url, run.spider.spider.identity))
    // An earlier holder stored the page and was lost before it could say so: say it for it, without fetching again.
    if (stored) return { finished: acknowledgeStored(lease, run, stored) }
  }
  const started = new Date()
  const startedAt = performance.now()
  parts.log.info({ url: lease.url, run: lease.run, attempt: lease.attempts + 1 }, 'request start')

  const answer = await ask(lease, run, signal, parts)
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
  if (outcome.retryAfterMs) await parts.queue.hold(lease.host, outcome.retryAfterMs)
  if (outcome.state === 'retry') {
    const reply = await parts.queue.retry(
      lease,
      Math.max(retryDelayMs(lease.attempts + 1), outcome.retryAfterMs ?? 0),
    )
    return { handedBack: reply === 'STALE' ? 'lost' : 'retry' }
  }
  return { finished: describe(lease, run, outcome as SettledOutcome, answer.fetched, ms, started, parts) }
}

interface Answer {
  outcome: Outcome
  fetched?: Fetched
}
type SettledOutcome = Outcome & { state: PageRecord['state'] }

/** Asks robots.txt, then the page. */
async function ask(
  lease: Lease,
  run: CrawlRun,
  signal: AbortSignal,
  parts: VisitParts,
): Promise<Answer | 'released'> {
  const { spider } = run.spider
  const policy = parts.policy
  try {
    if (spider.robots === 'obey') {
      const first = parts.robots.needsFetch(lease.url)
      const robots = await parts.robots.of(lease.url, spider.allowPrivate)
      if (robots.crawlDelayMs) await parts.queue.setHostDelay(lease.host, robots.crawlDelayMs)
      if (!robots.allows(lease.url)) return { outcome: { state: 'ignored', reason: 'robots' } }
      // robots.txt was this turn's request to the host; the page waits for the next one, as any request does.
      if (first && (parts.delayMs() > 0 || robots.crawlDelayMs)) {
        await parts.queue.release([lease])
        return 'released'
      }
    }
    const fetched = await parts.fetcher.fetch(lease.url, {
      allowPrivate: spider.allowPrivate,
      headers: spider.headers,
      signal,
      accept: isReadable,
      redirectAllowed: (target) => mayRedirect(target, lease, run, parts),
    })
    return { outcome: classify(fetched, policy), fetched }
  } catch (error) {
    if (error instanceof RobotsUnreachable)
      return { outcome: { state: 'retry', reason: 'robots_unreachable', detail: error.message } }
    if (error instanceof FetchFailure) return { outcome: classify(error, policy) }
    throw error
  }
}

/** A seed may be redirected anywhere (sites move to www or https); what links led to must stay in scope and allowed by robots. */
async function mayRedirect(target: string, lease: Lease, run: CrawlRun, parts: VisitParts): Promise<boolean> {
  if (lease.depth > 0 && !run.spider.inScope(target, lease.depth, run.seeds, lease.url)) return false
  if (run.spider.spider.robots !== 'obey') return true
  return (await parts.robots.of(target, run.spider.spider.allowPrivate)).allows(target)
}

/** With the budget used up a passing failure becomes a lasting one. */
function settle(outcome: Outcome, lease: Lease, parts: VisitParts): Outcome {
  return outcome.state === 'retry' && lease.attempts >= parts.policy.retryTimes
    ? { ...outcome, state: 'failed' }
    : outcome
}

function describe(
  lease: Lease,
  run: CrawlRun,
  outcome: SettledOutcome,
  fetched: Fetched | undefined,
  ms: number,
  started: Date,
  parts: VisitParts,
): Finished {
  let content: PageContent | undefined
  let charset: string | null = null
  if (fetched && outcome.state === 'done' && isHtml(fetched.contentType)) {
    const decoded = decodeHtml(fetched.body, fetched.contentType)
    charset = decoded.charset
    content = readPage(decoded.text, fetched.finalUrl, run.spider)
  }
  const links =
    content && !(content.nofollow && run.spider.spider.robots === 'obey')
      ? newLinks(content.links, fetched!.finalUrl, lease, run, parts.known)
      : []
  // What was taken counts all the same, but a coverage that ends here must be seen to.
  const reason = content?.cut ? 'cut' : outcome.reason
  if (reason === 'cut')
    parts.log.warn({ url: lease.url, run: lease.run, links: content?.links.length }, REASONS.cut.words)
  const record: PageRecord = {
    run: lease.run,
    hash: urlHash(lease.url, run.spider.spider.identity),
    url: lease.url,
    finalUrl: fetched?.finalUrl ?? null,
    state: outcome.state,
    reason,
    detail: outcome.detail?.slice(0, 500) ?? null,
    status: fetched?.status ?? null,
    title: content?.title ?? null,
    depth: lease.depth,
    referrer: lease.referrer ?? null,
    contentType: fetched?.contentType?.slice(0, 255) ?? null,
    charset,
    bytes: fetched?.body.length ?? null,
    ms,
    attempts: lease.attempts + 1,
    deliveries: lease.deliveries + 1,
    items: content?.items ?? [],
    links: links.length > 0 ? deflateRawSync(links.map((link) => link.url).join('\n')) : null,
    token: lease.token,
    fetchedAt: started,
  }
  return { lease, state: outcome.state, reason, record, links }
}

/** What is stored; only HTML is read for links and items. Pictures, archives and the like are not even downloaded. */
const isReadable = (contentType: string | null): boolean =>
  contentType === null ||
  /^\s*(text\/|application\/(xhtml\+xml|xml|json|[\w.-]+\+(xml|json)))/i.test(contentType)

const isHtml = (contentType: string | null): boolean =>
  contentType === null || /^\s*(text\/html|application\/xhtml\+xml)/i.test(contentType)

/** The page's links that are in scope and not known to be admitted already. */
function newLinks(
  urls: string[],
  pageUrl: string,
  lease: Lease,
  run: CrawlRun,
  known: KnownLinks,
): NewTask[] {
  const tasks: NewTask[] = []
  for (const url of urls) {
    if (known.has(lease.run, url) || !run.spider.inScope(url, lease.depth + 1, run.seeds, pageUrl)) continue
    tasks.push({
      url,
      id: urlId(url, run.spider.spider.identity),
      host: hostKey(url),
      depth: lease.depth + 1,
      priority: lease.priority,
      referrer: lease.url,
    })
  }
  return tasks
}

function acknowledgeStored(lease: Lease, run: CrawlRun, stored: StoredPage): Finished {
  const links = stored.links.map((url) => ({
    url,
    id: urlId(url, run.spider.spider.identity),
    host: hostKey(url),
    depth: lease.depth + 1,
    priority: lease.priority,
    referrer: lease.url,
  }))
  return { lease, state: stored.state, reason: stored.reason, record: null, links }
}
