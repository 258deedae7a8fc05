import dns from 'node:dns'
import { setMaxListeners } from 'node:events'
import { Agent, type buildConnector } from 'undici'
import type { ConnectTimes, Lookup } from '../../core/address-guard'
import type { ProxyAddress } from '../../core/proxy-address'
import type { Spider } from '../../core/spider'
import { fetchConnector, proxiedConnector } from './address-guard'
import { isZstd, undoesZstd } from './content-codings'
import { type Answer, dispatch, type Exchange, type ExchangeRequest } from './exchange'
import { FetchFailure } from './failure'
import { codingsOf, type Headers, REDIRECTS, redirectTarget, requestHeaders } from './headers'
import { rememberNames } from './name-cache'
import { serverAddress } from './server-address'
import { tolerantDispatch } from './tolerant-http'

export interface FetcherOptions {
  userAgent: string
  /** Milliseconds to connect: name, TCP and TLS together. */
  connectTimeoutMs: number
  /** Milliseconds without a byte, before the headers and within the body. */
  readTimeoutMs: number
  /** Milliseconds for the whole of it, redirects included. */
  totalTimeoutMs: number
  maxRedirects: number
  /** Bytes of a body after decoding. */
  maxBytes: number
  /** Resolver; the system's when absent. */
  lookup?: Lookup
  /** Milliseconds for which its answers are remembered; absent: not at all. */
  namesMs?: number
  /** Told of each connection that was made. */
  connected?: (times: ConnectTimes) => void
}

export interface FetchRequest {
  allowPrivate: boolean
  /** The spider's own headers, over the fetcher's. Dropped when a redirect leaves the origin. */
  headers: Record<string, string>
  signal: AbortSignal
  /** Asked before each hop is fetched; false fails the fetch with `redirect_scope`, a thrown FetchFailure with its own code. */
  redirectAllowed?: (url: string) => boolean | Promise<boolean>
  /** In place of the fetcher's `userAgent`. */
  userAgent?: string
  /** Asked for the cookies of each hop, and given those that it sets. */
  cookies?: RequestCookies
  /** Headers such as If-None-Match, for this URL alone, whichever hop it is. */
  conditions?: { url: string; headers: Record<string, string> }
  /** In place of the fetcher's `maxBytes`. */
  maxBytes?: number
  /** In place of the fetcher's `maxRedirects`. */
  maxRedirects?: number
  /** The way it goes; absent: directly. Connections are kept apart by it. */
  proxy?: { id: number; shown: string; address: ProxyAddress }
  /** Asked when the headers of a 2xx answer are in; false fails the fetch with `type`, its body unread. */
  accept?: (contentType: string | null) => boolean
  /** What is done with the page once it is open; for a fetcher that opens pages in a browser. */
  render?: Spider['render']
}

/** What a fetch needs of a jar; see `worker/cookies.ts`. */
export interface RequestCookies {
  /** The Cookie header for a URL; empty for none. */
  header(url: string): string
  /** Takes the Set-Cookie lines of an answer. */
  take(url: string, lines: readonly string[]): void
}

export interface Fetched {
  url: string
  finalUrl: string
  status: number
  /** Lower-case names; equal names joined by `, ` (`set-cookie` by newline). */
  headers: Headers
  contentType: string | null
  /** Decoded, at most `maxBytes`. */
  body: Buffer
  /** `cap`: longer than `maxBytes`. `cut`: the connection or the compressed data ended early; `body` is what came. */
  truncated: 'cap' | 'cut' | null
  /** Bytes of the body as they came. */
  wireBytes: number
  /** Milliseconds from the start to the headers of this answer. */
  headersMs: number
  /** Milliseconds from the start to the last byte. */
  ms: number
  /** The answer was no proper HTTP, and was read all the same. */
  lenient: boolean
  /** URLs gone through before `finalUrl`, the first being `url`; empty without redirects. */
  redirects: string[]
  /** What each of these answered. */
  hops: { url: string; status: number; headers: Headers }[]
  /** The body is what scripts have made of the answer in a browser. */
  rendered?: true
}

export interface Fetcher {
  /** @throws FetchFailure when there is no page; see `failure.ts`. */
  fetch(url: string, request: FetchRequest): Promise<Fetched>
  /** What a host counts as one server by, with others; null when that is not known, or hidden by a proxy. */
  addressOf(host: string): Promise<string | null>
  close(): Promise<void>
}

/** Proxies whose connections are kept open at a time; those used longest ago go first. */
const WAYS_KEPT = 200
/** Bytes of a redirect's body that are read to keep its connection; a longer one is cut off. */
const REDIRECT_BYTES = 64 * 1024

/** A fetcher with its own pools of connections, apart for those that may and may not go to private addresses. */
export function createFetcher(options: FetcherOptions): Fetcher {
  const resolver = options.lookup ?? dns.lookup
  const { lookup, forget } = options.namesMs
    ? rememberNames(resolver, options.namesMs)
    : { lookup: resolver, forget: () => {} }
  const newWay = (allowPrivate: boolean, proxy?: ProxyAddress): Way => {
    const shared = { allowPrivate, timeoutMs: options.connectTimeoutMs, lookup }
    const connect = proxy
      ? proxiedConnector({ ...shared, proxy })
      : fetchConnector({ ...shared, failed: forget, connected: options.connected })
    return { connect, agent: newAgent(connect) }
  }
  const ways = new Map<string, Way>()
  /** The pools of connections of a way: apart for those that may and may not go to private addresses, and by proxy. */
  const wayOf = ({ allowPrivate, proxy }: FetchRequest): Way => {
    const key = `${allowPrivate} ${proxy ? `${proxy.id} ${proxy.shown}` : ''}`
    const known = ways.get(key)
    ways.delete(key)
    const way = known ?? newWay(allowPrivate, proxy?.address)
    ways.set(key, way)
    if (ways.size > WAYS_KEPT) {
      const [oldest, { agent }] = ways.entries().next().value!
      ways.delete(oldest)
      // What is under way on it ends first.
      void agent.close()
    }
    return way
  }

  return {
    fetch: (url, request) => {
      const { connect, agent } = wayOf(request)
      return new Visit(options, url, request, (exchangeRequest, tolerant) =>
        tolerant ? tolerantDispatch(connect, exchangeRequest) : dispatch(agent, exchangeRequest),
      ).run()
    },
    addressOf: (host) => serverAddress(host, lookup, options.connectTimeoutMs),
    async close() {
      await Promise.all([...ways.values()].map(({ agent }) => agent.destroy()))
    },
  }
}

interface Way {
  connect: buildConnector.connector
  agent: Agent
}

const newAgent = (connect: buildConnector.connector) =>
  new Agent({
    connect,
    pipelining: 1,
    maxHeaderSize: 64 * 1024,
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 30_000,
  })

type Send = (request: ExchangeRequest, tolerant: boolean) => Exchange

/** One fetch: its hops, its deadline, its end. */
class Visit {
  readonly #started = performance.now()
  readonly #hops: Fetched['hops'] = []
  #target!: URL
  #exchange: Exchange | null = null
  #status: number | undefined
  #headersMs = 0
  #lenient = false
  #headers: Headers | undefined
  #stopped: FetchFailure | null = null
  #stop!: (failure: FetchFailure) => void

  constructor(
    readonly options: FetcherOptions,
    readonly url: string,
    readonly request: FetchRequest,
    readonly send: Send,
  ) {}

  async run(): Promise<Fetched> {
    const { options, request } = this
    const stopped = new Promise<never>((_, reject) => {
      this.#stop = (failure) => {
        this.#stopped = failure
        reject(failure)
        this.#exchange?.fail(failure)
      }
    })
    const deadline = setTimeout(() => {
      this.#stop(
        new FetchFailure('timeout_total', `${this.url}: not done after ${options.totalTimeoutMs} ms`),
      )
    }, options.totalTimeoutMs)
    const onAbort = () => this.#stop(new FetchFailure('aborted', `${this.url}: told to stop`))
    // One signal serves many fetches at once; that is no leak.
    setMaxListeners(0, request.signal)
    request.signal.addEventListener('abort', onAbort)
    if (request.signal.aborted) onAbort()
    try {
      return await Promise.race([stopped, this.#follow()])
    } catch (error) {
      if (error instanceof FetchFailure) error.answer = this.#known()
      throw error
    } finally {
      clearTimeout(deadline)
      request.signal.removeEventListener('abort', onAbort)
    }
  }

  async #follow(): Promise<Fetched> {
    this.#target = parse(this.url)
    const origin = this.#target.origin
    const seen = new Set<string>()
    let foreign = false
    for (;;) {
      seen.add(this.#state(this.#target.href))
      // Once it has left, whoever it went to chooses where it goes on, and that may be back.
      foreign ||= this.#target.origin !== origin
      const answer = await this.#exchangeWithSecondTry(foreign)
      const cookies = answer.headers['set-cookie']
      if (cookies) this.request.cookies?.take(this.#target.href, cookies.split('\n'))
      const next = this.#next(answer)
      if (!next) return this.#fetched(answer)
      if (seen.has(this.#state(next.href)))
        throw new FetchFailure('redirect_loop', `${this.url}: redirected to ${next.href} again`)
      const maxRedirects = this.request.maxRedirects ?? this.options.maxRedirects
      if (this.#hops.length >= maxRedirects)
        throw new FetchFailure('redirect_limit', `${this.url}: more than ${maxRedirects} redirects`)
      if (this.request.redirectAllowed && !(await this.request.redirectAllowed(next.href)))
        throw new FetchFailure('redirect_scope', `${this.url}: redirects to ${next.href}`)
      const { status, headers } = answer
      this.#hops.push({ url: this.#target.href, status, headers })
      this.#target = next
    }
  }

  /** Coming back to a URL with another cookie is no loop. */
  #state(url: string): string {
    return `${url} ${this.request.cookies?.header(url) ?? ''}`
  }

  #next({ status, headers }: Answer): URL | null {
    let next: URL | null
    try {
      next = redirectTarget(status, headers, this.#target.href)
    } catch (cause) {
      throw new FetchFailure('bad_redirect', `${this.url}: Location "${headers.location}" is not a URL`, {
        cause,
      })
    }
    if (next) refuseScheme(next, this.url)
    return next
  }

  /**
   * Two kinds of failure deserve another try at once, on a connection of its own: a kept one that the server had just
   * closed (RFC 9112 §9.3.1), and an answer that undici does not take for HTTP but a browser would.
   */
  async #exchangeWithSecondTry(foreign: boolean): Promise<Answer> {
    try {
      return await this.#exchangeOnce(foreign, false)
    } catch (error) {
      const again =
        error instanceof FetchFailure &&
        !this.#exchange?.begun &&
        (error.code === 'malformed_http' ||
          (error.code === 'reset' && !this.#exchange?.answering && wasKept(error.cause)))
      if (this.#stopped || !again) throw error
      const answer = await this.#exchangeOnce(foreign, true)
      this.#lenient = (error as FetchFailure).code === 'malformed_http'
      return answer
    }
  }

  #exchangeOnce(foreign: boolean, tolerant: boolean): Promise<Answer> {
    if (this.#stopped) throw this.#stopped
    this.#lenient = false
    const { conditions } = this.request
    this.#exchange = this.send(
      {
        url: this.#target,
        headers: [
          ...requestHeaders(
            this.request.userAgent ?? this.options.userAgent,
            this.request.headers,
            foreign,
            this.request.cookies?.header(this.#target.href),
          ),
          ...(conditions?.url === this.#target.href ? Object.entries(conditions.headers).flat() : []),
        ],
        readTimeoutMs: this.options.readTimeoutMs,
        bodyLimit: (status, headers) => this.#bodyLimit(status, headers),
      },
      tolerant,
    )
    return this.#exchange.answer
  }

  #bodyLimit(status: number, headers: Headers): number | null {
    this.#status = status
    this.#headers = headers
    this.#headersMs = this.#elapsed()
    if (REDIRECTS.has(status) && headers.location) return REDIRECT_BYTES
    const contentType = headers['content-type'] ?? null
    if (this.request.accept && !this.request.accept(contentType)) {
      if (status < 300)
        throw new FetchFailure('type', `${this.url}: Content-Type is ${contentType ?? 'not given'}`)
      return null
    }
    return this.request.maxBytes ?? this.options.maxBytes
  }

  #fetched(answer: Answer): Fetched {
    if (!undoesZstd && isZstd(answer.body) && codingsOf(answer.headers).includes('zstd'))
      throw new FetchFailure('coding', `${this.url}: Content-Encoding is zstd, unasked for`)
    return {
      url: this.url,
      finalUrl: this.#target.href,
      status: answer.status,
      headers: answer.headers,
      contentType: answer.headers['content-type'] ?? null,
      body: answer.body,
      truncated: answer.truncated,
      wireBytes: answer.wireBytes,
      headersMs: this.#headersMs,
      ms: this.#elapsed(),
      lenient: this.#lenient,
      redirects: this.#redirects(),
      hops: this.#hops,
    }
  }

  #known() {
    return {
      finalUrl: this.#target?.href,
      status: this.#status,
      headers: this.#headers,
      contentType: this.#headers?.['content-type'] ?? null,
      redirects: this.#redirects(),
      ms: this.#elapsed(),
    }
  }

  #redirects(): string[] {
    return this.#hops.map(({ url }) => url)
  }

  #elapsed(): number {
    return Math.round(performance.now() - this.#started)
  }
}

function parse(url: string): URL {
  let parsed: URL
  try {
    parsed = new URL(url)
  } catch (cause) {
    throw new FetchFailure('bad_request', `${url}: is not a URL`, { cause })
  }
  refuseScheme(parsed, url)
  return parsed
}

function refuseScheme(target: URL, url: string): void {
  if (target.protocol !== 'http:' && target.protocol !== 'https:')
    throw new FetchFailure(
      'bad_scheme',
      `${url}: leads to ${target.protocol} where only http and https are fetched`,
    )
}

/** Whether the connection had served before: undici tells how much it had read from it. */
function wasKept(cause: unknown): boolean {
  const socket = (cause as { socket?: { bytesRead?: number } } | undefined)?.socket
  return (socket?.bytesRead ?? 0) > 0
}
