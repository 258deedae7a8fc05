import type { ConnectTimes } from '../../core/address-guard'
import { UserError } from '../../core/errors'
import type { Queue } from '../../core/queue/queue'
import type { KeptHead } from '../../core/queue/tryouts'
import { MOST_KEPT_BYTES } from '../../core/queue/tryouts'
import { inTurn } from '../../core/queue/turn'
import type { TryoutPage, TryoutRobots } from '../../core/tryout'
import { hostKey } from '../../core/url'
import type { CodeSpiders } from '../code/code-spiders'
import { Cookies } from '../cookies'
import { decodeHtml } from '../fetch/charset'
import { documentType } from '../fetch/document-type'
import { FetchFailure } from '../fetch/failure'
import type { Fetched, Fetcher, FetcherOptions } from '../fetch/fetcher'
import { askRobots, type HostRobots } from '../host-robots'
import { classify, type Outcome, REASONS } from '../outcome'
import { mayBeSitemap } from '../read-document'
import type { Robots } from '../robots'
import type { CrawlRun } from '../run-cache'
import type { SignIn } from '../sign-in'
import { MAX_SITEMAP_BYTES } from '../sitemap/read-sitemap'
import { isReadable } from '../visit'
import { readTryout } from './read-tryout'

export interface TryoutParts {
  queue: Queue
  robots: HostRobots
  code: CodeSpiders
  signIn: SignIn
  /** One with connections of its own; `more` stands in place of the worker's options. */
  newFetcher: (more: Partial<FetcherOptions>) => Fetcher
  totalTimeoutMs: number
  /** What opens pages in a browser, where this worker has one. */
  pages?: { fetcher: Fetcher; timeoutMs: number } | undefined
  retryCodes: readonly number[]
  userAgent: string
  worker: string
}

/** Longest time that a trial waits for its host's turn: an operator looks on. */
const LONGEST_WAIT_MS = 30_000
/** Of an answer's headers, together; a page shows them. */
const MOST_HEADERS = 32_000

interface Answer {
  outcome: Outcome
  fetched?: Fetched
  failed?: FetchFailure
}

/**
 * Fetches a page as a visit of the spider's run would: through the address guard, when robots.txt allows it, and in the host's
 * turn. It has a fetcher of its own, so that its connections are new and their times are this page's; a page that is rendered has
 * the worker's browser, which tells no times of connections.
 * @throws TurnTooFar when the host asks for more patience than a person has.
 */
export async function fetchTryout(
  url: string,
  run: CrawlRun,
  signal: AbortSignal,
  parts: TryoutParts,
): Promise<{ page: TryoutPage; kept?: { head: KeptHead; body: Buffer } }> {
  const { spider } = run.spider
  const started = performance.now()
  const asker = {
    allowPrivate: spider.allowPrivate,
    ...(spider.userAgent && { userAgent: spider.userAgent }),
  }
  const connections: ConnectTimes[] = []
  let waited = 0
  const turn = async <T>(work: () => Promise<T>): Promise<T> => {
    const from = performance.now()
    const lastMs = (parts.pages?.timeoutMs ?? parts.totalTimeoutMs) + 1000
    return inTurn(parts.queue, hostKey(url), { lastMs, longestMs: LONGEST_WAIT_MS, signal }, () => {
      waited += performance.now() - from
      return work()
    })
  }
  // robots.txt is a request of its own, and so has a turn of its own.
  const asked = (await parts.robots.needsFetch(url, asker))
    ? await turn(() => askRobots(parts.robots, url, asker))
    : await askRobots(parts.robots, url, asker)
  const robots = 'robots' in asked ? asked.robots : null
  if (robots?.crawlDelayMs && spider.robots === 'obey')
    await parts.queue.setHostDelay(hostKey(url), robots.crawlDelayMs)
  const verdict = describeRobots(url, asked, spider.robots === 'obey')
  const fetcher = parts.newFetcher({
    namesMs: undefined,
    connected: (times) => connections.push(times),
  })
  try {
    const answer: Answer =
      verdict.reason && verdict.obeyed
        ? {
            outcome: {
              state: REASONS[verdict.reason as keyof typeof REASONS].state,
              reason: verdict.reason,
            } as Outcome,
          }
        : await turn(() => ask(url))
    const { outcome, fetched } = answer
    // Its next fetch waits as long as after any page that said so.
    if (outcome.retryAfterMs) await parts.queue.hold(hostKey(url), outcome.retryAfterMs)
    const text = fetched && documentType(fetched.body, fetched.contentType) !== 'binary'
    const decoded = text ? decodeHtml(fetched.body, fetched.contentType) : null
    const reading =
      fetched && outcome.state === 'done' && signal.aborted === false
        ? await readTryout(fetched, run, { userAgent: parts.userAgent, robots, code: parts.code })
        : null
    const known = fetched ?? answer.failed?.answer
    const headers = bounded(known?.headers ?? {})
    const page: TryoutPage = {
      url,
      finalUrl: known?.finalUrl ?? null,
      hops:
        fetched?.hops.map((hop) => ({ url: hop.url, status: hop.status })) ??
        answer.failed?.answer.redirects?.map((hop) => ({ url: hop, status: null })) ??
        [],
      status: known?.status ?? null,
      headers,
      contentType: known?.contentType ?? null,
      outcome: { state: outcome.state, reason: outcome.reason, detail: outcome.detail ?? null },
      robots: verdict,
      times: timesOf(connections, fetched, waited, performance.now() - started),
      charset: decoded && { name: decoded.charset, source: decoded.source },
      bytes: fetched?.body.length ?? null,
      wireBytes: fetched?.wireBytes ?? null,
      truncated: fetched?.truncated ?? null,
      kept: fetched && text ? Math.min(fetched.body.length, MOST_KEPT_BYTES) : 0,
      reading,
      worker: parts.worker,
    }
    if (!fetched || !text) return { page }
    const { finalUrl, contentType, body } = fetched
    return {
      page,
      kept: { head: { url, finalUrl, contentType, headers, charset: page.charset!.name }, body },
    }
  } finally {
    await fetcher.close()
  }

  async function ask(address: string): Promise<Answer> {
    const sitemap = mayBeSitemap(address, spider)
    const policy = { retryCodes: parts.retryCodes, binary: sitemap }
    try {
      const from = sitemap ? fetcher : (parts.pages?.fetcher ?? fetcher)
      const fetched = await from.fetch(address, {
        ...asker,
        ...(spider.render && { render: spider.render }),
        headers: { ...spider.headers, ...(await parts.signIn.headers(run.spiderId, address)) },
        ...(spider.cookies && { cookies: new Cookies().of(0) }),
        ...(sitemap && { maxBytes: MAX_SITEMAP_BYTES }),
        signal,
        accept: (type) => isReadable(type) || sitemap,
        redirectAllowed: async (target) =>
          spider.robots !== 'obey' || (await parts.robots.of(target, asker)).allows(target),
      })
      return { outcome: classify(fetched, policy), fetched }
    } catch (error) {
      if (error instanceof UserError)
        return { outcome: { state: 'failed', reason: 'credentials', detail: error.message } }
      if (!(error instanceof FetchFailure)) throw error
      return { outcome: classify(error, policy), failed: error }
    }
  }
}

function describeRobots(
  url: string,
  asked: { robots: Robots } | { reason: string },
  obeyed: boolean,
): TryoutRobots {
  if ('reason' in asked)
    return { allowed: null, reason: asked.reason, line: null, crawlDelayMs: null, obeyed }
  const { robots } = asked
  const allowed = robots.allows(url)
  return {
    allowed,
    ...(!allowed && { reason: 'robots' }),
    line: robots.decidingLine(url),
    crawlDelayMs: robots.crawlDelayMs,
    obeyed,
  }
}

/** What the fetcher knows: its connections, when the headers were in, and when the body was. */
function timesOf(
  connections: ConnectTimes[],
  fetched: Fetched | undefined,
  waited: number,
  total: number,
): TryoutPage['times'] {
  const sum = (part: (times: ConnectTimes) => number | null) =>
    connections.length === 0 || connections.every((one) => part(one) === null)
      ? null
      : Math.round(connections.reduce((all, one) => all + (part(one) ?? 0), 0))
  const [dns, connect, tls] = [sum((one) => one.dns), sum((one) => one.connect), sum((one) => one.tls)]
  return {
    waited: Math.round(waited),
    dns,
    connect,
    tls,
    firstByte: fetched ? Math.max(0, fetched.headersMs - (dns ?? 0) - (connect ?? 0) - (tls ?? 0)) : null,
    body: fetched ? Math.max(0, fetched.ms - fetched.headersMs) : null,
    total: Math.round(total),
  }
}

function bounded(headers: Record<string, string | undefined>): Record<string, string> {
  let left = MOST_HEADERS
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => {
      left -= name.length + (value?.length ?? 0)
      return value === undefined || left < 0 ? [] : [[name, value]]
    }),
  )
}
