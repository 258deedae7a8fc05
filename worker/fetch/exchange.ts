import type { Dispatcher } from 'undici'
import { BodyReader, type DecodedBody } from './decode-body'
import { FetchFailure, failureOf } from './failure'
import { codingsOf, foldHeaders, type Headers } from './headers'

export interface ExchangeRequest {
  url: URL
  /** Flat name-value list. */
  headers: string[]
  readTimeoutMs: number
  /** Asked when the headers are in: decoded bytes of the body to read at most, or null to leave it unread. */
  bodyLimit: (status: number, headers: Headers) => number | null
}

export interface Answer extends DecodedBody {
  status: number
  headers: Headers
  wireBytes: number
}

/**
 * One request and its answer. Whoever transports it (undici, or `tolerant-http.ts` for what undici refuses) reports
 * what comes in: `begin`, `data`, then `finish` or `fail`. `answer` settles once, and later reports change nothing.
 */
export class Exchange {
  readonly answer: Promise<Answer>
  /** Stops the transport. Set by it once it can be stopped. */
  onStop: (() => void) | null = null
  /** Goes on after `data` answered false. */
  onResume: (() => void) | null = null

  status = 0
  headers: Headers = {}
  #reader: BodyReader | null = null
  #resolve!: (answer: Answer | Promise<Answer>) => void
  #reject!: (reason: unknown) => void
  #over = false

  constructor(readonly request: ExchangeRequest) {
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  /** The answer is complete, or failed: nothing more is wanted from the transport. */
  get over(): boolean {
    return this.#over
  }

  /** A first byte of an answer was seen. */
  answering = false

  get begun(): boolean {
    return this.#reader !== null
  }

  begin(status: number, raw: readonly (Buffer | string)[]): void {
    if (this.#over) return
    this.status = status
    this.headers = foldHeaders(raw)
    const limit = this.request.bodyLimit(status, this.headers)
    // RFC 9110 §6.4.1: these have no body, whatever follows.
    const unread = limit === null || status === 204 || status === 304
    this.#reader = new BodyReader(codingsOf(this.headers), limit ?? 0, {
      stop: () => this.#complete(false, true),
      resume: () => this.onResume?.(),
    })
    if (limit === null || (unread && hasBody(this.headers))) this.#complete(false, true)
  }

  /** @returns false to pause until `onResume`. */
  data(chunk: Buffer): boolean {
    return this.#over || this.#reader === null ? true : this.#reader.write(chunk)
  }

  /** The answer ended; `cut` when that was not where it should have. */
  finish(cut: boolean): void {
    this.#complete(cut, false)
  }

  /** No answer, or no more of it. */
  fail(reason: unknown): void {
    if (this.#over) return
    this.#over = true
    this.#reader?.discard()
    this.#reject(reason)
    this.onStop?.()
  }

  #complete(cut: boolean, stop: boolean): void {
    const reader = this.#reader
    if (this.#over || reader === null) return
    this.#over = true
    this.#resolve(
      reader.end(cut).then(({ body, truncated }) => ({
        status: this.status,
        headers: this.headers,
        body,
        truncated,
        wireBytes: reader.wireBytes,
      })),
    )
    if (stop) this.onStop?.()
  }
}

function hasBody(headers: Headers): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** Sends the request through undici. Errors of any kind, assertions included, become failures of the exchange. */
export function dispatch(dispatcher: Dispatcher, request: ExchangeRequest): Exchange {
  const exchange = new Exchange(request)
  const { url } = request
  try {
    dispatcher.dispatch(
      {
        origin: url.origin,
        path: url.pathname + url.search,
        method: 'GET',
        headers: request.headers,
        headersTimeout: request.readTimeoutMs,
        bodyTimeout: request.readTimeoutMs,
      },
      new Handler(exchange),
    )
  } catch (error) {
    exchange.fail(failureOf(error, url.href))
  }
  return exchange
}

/** undici's side of an exchange: its lean handler interface, which leaves the headers as they came. */
class Handler implements Dispatcher.DispatchHandler {
  constructor(readonly exchange: Exchange) {}

  onConnect(abort: (error?: Error) => void): void {
    // Given up while it waited for its connection.
    if (this.exchange.over) abort()
    else this.exchange.onStop = abort
  }

  onResponseStarted(): void {
    this.exchange.answering = true
  }

  onHeaders(status: number, raw: Buffer[], resume: () => void): boolean {
    // 1xx: the real answer is still to come.
    if (status < 200) return true
    this.exchange.onResume = resume
    this.exchange.begin(status, raw)
    return true
  }

  onData(chunk: Buffer): boolean {
    return this.exchange.data(chunk)
  }

  onComplete(): void {
    this.exchange.finish(false)
  }

  onError(error: Error): void {
    const { exchange } = this
    const failure = failureOf(error, exchange.request.url.href)
    if (exchange.begun && failure instanceof FetchFailure && endsBody(failure)) exchange.finish(true)
    else exchange.fail(failure)
  }
}

/** Errors that, once the headers are in, only mean that the body ended. */
function endsBody({ code }: FetchFailure): boolean {
  return code === 'reset' || code === 'malformed_http' || code === 'network'
}
