import type { Spider } from '../core/spider'
import { type FailureCode, FetchFailure } from './fetch/failure'
import type { Fetcher } from './fetch/fetcher'
import { parseRobots, type Robots } from './robots'
import type { SharedRobots } from './shared-robots'

/** RFC 9309 §2.4: a cached copy is not used for longer than a day; an hour keeps up with owners who change their mind. */
const KEEP_MS = 3_600_000
const HOSTS_KEPT = 20_000
/** RFC 9309 §2.5: at least 500 KiB must be read. */
const MAX_BYTES = 512_000
/** RFC 9309 §2.3.1.2: five at least. */
const MAX_REDIRECTS = 5

/** Of a spider, what asking for robots.txt depends on. */
type RobotsAsker = Pick<Spider, 'allowPrivate' | 'userAgent'>

/** The robots.txt of each origin, fetched once and shared by all visits of this worker, and by all workers where there is `shared`. */
export class HostRobots {
  #known = new Map<string, { until: number; robots: Promise<Robots> }>()

  constructor(
    private readonly fetcher: Fetcher,
    /** User-Agent of whoever has none of its own; its first word up to a slash is the name that groups are matched with. */
    private readonly agent: string,
    private readonly shared?: SharedRobots,
  ) {}

  /** Whether asking for this URL would send a request for robots.txt first. */
  async needsFetch(url: string, { userAgent = this.agent }: RobotsAsker): Promise<boolean> {
    const { origin } = new URL(url)
    return !this.#fresh(origin, userAgent) && !(await this.#fromOthers(origin, userAgent))
  }

  /**
   * @throws FetchFailure when the server cannot be asked, RobotsUnreachable when it answers with 5xx: then nothing may be
   * fetched for now (RFC 9309 §2.3.1.4).
   */
  async of(url: string, { allowPrivate, userAgent = this.agent }: RobotsAsker): Promise<Robots> {
    const { origin } = new URL(url)
    return (
      this.#fresh(origin, userAgent) ??
      this.#keep(origin, userAgent, KEEP_MS, this.#ask(origin, allowPrivate, userAgent))
    )
  }

  #fresh(origin: string, userAgent: string): Promise<Robots> | undefined {
    const known = this.#known.get(`${origin} ${userAgent}`)
    return known && known.until >= performance.now() ? known.robots : undefined
  }

  #keep(origin: string, userAgent: string, keepMs: number, robots: Promise<Robots>): Promise<Robots> {
    const key = `${origin} ${userAgent}`
    this.#known.delete(key)
    if (this.#known.size >= HOSTS_KEPT) this.#known.delete(this.#known.keys().next().value!)
    this.#known.set(key, { until: performance.now() + keepMs, robots })
    // A failure is not remembered: the next page of the host asks again.
    robots.catch(() => this.#known.delete(key))
    return robots
  }

  /** What another worker got; from here on it is known here, too, for as long as it holds there. */
  async #fromOthers(origin: string, userAgent: string): Promise<Robots | null> {
    const got = await this.shared?.get(origin, userAgent)
    if (!got) return null
    const robots = robotsOfAnswer(`${origin}/robots.txt`, got.status, got.body, userAgent)
    void this.#keep(origin, userAgent, got.leftMs, Promise.resolve(robots))
    return robots
  }

  async #ask(origin: string, allowPrivate: boolean, userAgent: string): Promise<Robots> {
    return (await this.#fromOthers(origin, userAgent)) ?? this.#fetch(origin, allowPrivate, userAgent)
  }

  async #fetch(origin: string, allowPrivate: boolean, userAgent: string): Promise<Robots> {
    const url = `${origin}/robots.txt`
    try {
      const answer = await this.fetcher.fetch(url, {
        allowPrivate,
        userAgent,
        headers: {},
        signal: new AbortController().signal,
        maxBytes: MAX_BYTES,
        maxRedirects: MAX_REDIRECTS,
      })
      const robots = robotsOfAnswer(url, answer.status, answer.body, userAgent)
      await this.shared?.set(origin, userAgent, answer, KEEP_MS)
      return robots
    } catch (error) {
      if (error instanceof FetchFailure && leadsNowhere(error)) return parseRobots('', userAgent)
      throw error
    }
  }
}

const NOWHERE = new Set<FailureCode>(['redirect_loop', 'redirect_limit', 'bad_redirect', 'bad_scheme'])

/** Redirects that end in no file mean that there is none (RFC 9309 §2.3.1.2). */
function leadsNowhere({ code, answer }: FetchFailure): boolean {
  return NOWHERE.has(code) || (code === 'private_address' && (answer.redirects?.length ?? 0) > 0)
}

/**
 * What an answer for robots.txt says (RFC 9309 §2.3.1): a file with 2xx; that there is none, so everything is allowed, with
 * 3xx and 4xx.
 * @throws RobotsUnreachable for anything else.
 */
export function robotsOfAnswer(url: string, status: number, body: Buffer | string, agent: string): Robots {
  if (status < 200 || status >= 500) throw new RobotsUnreachable(url, status)
  return parseRobots(status < 300 ? body : '', agent)
}

/** The site answers its robots.txt with a server error: until that ends it must be left alone. */
export class RobotsUnreachable extends Error {
  override name = 'RobotsUnreachable'
  constructor(
    readonly url: string,
    readonly status: number,
  ) {
    super(`${url} answers ${status}; the site is left alone until it answers again.`)
  }
}

/** A site's robots.txt, or the reason (`outcome.ts`) for which it could not be had, so that nothing may be fetched for now. */
export async function askRobots(
  hosts: HostRobots,
  url: string,
  asker: RobotsAsker,
): Promise<{ robots: Robots } | { reason: FailureCode | 'robots_unreachable' }> {
  try {
    return { robots: await hosts.of(url, asker) }
  } catch (error) {
    if (error instanceof RobotsUnreachable) return { reason: 'robots_unreachable' }
    if (error instanceof FetchFailure) return { reason: error.code }
    throw error
  }
}
