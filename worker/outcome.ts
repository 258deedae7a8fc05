import { isChallenge } from './challenge'
import { documentType } from './fetch/document-type'
import { type FailureCode, FetchFailure } from './fetch/failure'
import type { Fetched } from './fetch/fetcher'
import type { Headers } from './fetch/headers'

/**
 * What becomes of a fetched URL: the only place that classes a status or an error.
 *
 * | answer                                           | state     | reason                             |
 * |--------------------------------------------------|-----------|------------------------------------|
 * | 2xx, whole                                       | `done`    | –                                  |
 * | 2xx, longer than the cap                         | `ignored` | `too_large`                        |
 * | 2xx, no text, whatever its Content-Type says     | `ignored` | `type`                             |
 * | 2xx, cut off                                     | `retry`   | `truncated`                        |
 * | a challenge page (`challenge.ts`)                | `failed`  | `blocked_challenge`                |
 * | 304 to a request with a condition                | `done`    | `unchanged`                        |
 * | 2xx with what was there the last time            | `done`    | `unchanged`, found when it is read |
 * | 404 and 410 where a page was the last time       | `ignored` | `gone`                             |
 * | 2xx with more links or items than are taken      | `done`    | `cut`, found when it is read       |
 * | 403                                              | `failed`  | `blocked_403`, whatever the policy |
 * | 408, 425, 429, and the policy's codes            | `retry`   | `http_<status>`                    |
 * | other 3xx (no usable Location) and 4xx           | `ignored` | `http_<status>`                    |
 * | anything else (501, 505, 999 …)                  | `failed`  | `http_<status>`                    |
 * | no answer                                        | as `REASONS` says for the failure's code       |
 *
 * `retry` means: a passing failure. Who holds the URL's retry budget turns it into `failed`, same reason, once that is used up.
 */
export interface Outcome {
  state: 'done' | 'failed' | 'ignored' | 'retry'
  reason: Reason | null
  /** One sentence for the log and the page's row. */
  detail?: string
  /**
   * The host is asked too much: it says so and has to be left alone for a while (`busy`), or it did not answer in time (`late`).
   * It is asked less often from now on.
   */
  strain?: 'busy' | 'late'
  /** Milliseconds the host asked to be left alone (Retry-After), at most an hour. */
  retryAfterMs?: number
}

export interface RetryPolicy {
  /** Statuses that are passing failures, besides 408, 425 and 429. */
  retryCodes: readonly number[]
  /** What is no text is wanted as well: a sitemap may be a gzip file. */
  binary?: boolean
  /** The page was asked for on condition that it has changed. */
  conditional?: boolean
  /** The page was there the last time. */
  wasThere?: boolean
}

interface ReasonRow {
  state: Outcome['state']
  /** For people: what happened, and where it helps, what to do. */
  words: string
}

const retry = (words: string): ReasonRow => ({ state: 'retry', words })
const failed = (words: string): ReasonRow => ({ state: 'failed', words })
const ignored = (words: string): ReasonRow => ({ state: 'ignored', words })

/** Every reason but `http_<status>`, which explains itself. `FailureCode`s are reasons of the same name. */
export const REASONS = {
  unchanged: { state: 'done', words: 'The page is as it was at the last visit; its items stand there.' },
  cut: {
    state: 'done',
    words: 'The page has more links, elements or items than are taken; those in excess were left out.',
  },
  gone: ignored('The page was there at the last visit, and is not there any more.'),
  not_due: ignored('The page was visited before, and its next visit is not due.'),
  too_large: ignored('The page is longer than MAX_BODY_BYTES.'),
  truncated: retry('The page ended early, in the middle of its data.'),
  blocked_403: failed('The server refuses us (403). Repeating would not help; slow down or ask its owner.'),
  blocked_challenge: failed(
    'The site answers with a test for robots in place of the page. Repeating would not help; slow down or ask its owner.',
  ),
  trap: ignored('The path of the URL repeats itself, as only paths without end do.'),
  dns: retry('The host name cannot be resolved.'),
  connect: retry('Nothing accepts connections at the host and port.'),
  tls: retry('No secure connection: the certificate or the TLS handshake is at fault.'),
  timeout_connect: retry('No connection within CONNECT_TIMEOUT.'),
  timeout_headers: retry('Connected, but no answer within READ_TIMEOUT.'),
  timeout_idle: retry('The answer stopped for longer than READ_TIMEOUT.'),
  timeout_total: retry('The page took longer than DOWNLOAD_TIMEOUT, redirects included.'),
  reset: retry('The server closed the connection before it answered.'),
  network: retry('The network failed in a way that has no name here; the detail has it.'),
  malformed_http: retry('What the server sent is not HTTP.'),
  aborted: retry('The worker was told to stop while it fetched the page.'),
  proxy: retry('The proxy could not be used; the detail says why.'),
  private_address: ignored(
    'The host is at an address that is not public, and private addresses are not allowed.',
  ),
  bad_scheme: ignored('The URL, or a redirect to it, is neither http nor https.'),
  redirect_scope: ignored('It redirects to a URL outside of the spider’s scope.'),
  robots_unreachable: retry(
    'The site’s robots.txt answers with a server error, and until it answers the site is left alone.',
  ),
  robots: ignored('The site’s robots.txt does not allow it.'),
  type: ignored('It is not a type of document that is read.'),
  bad_request: failed('The request cannot be sent as it is: look at the spider’s headers and the URL.'),
  bad_redirect: failed('It redirects to something that is not a URL.'),
  coding: failed('It comes compressed as zstd, which needs Node 22.15 or newer.'),
  redirect_loop: failed('It redirects back to itself.'),
  redirect_limit: failed('It redirects more than MAX_REDIRECTS times.'),
  credentials: failed('What the spider signs in with cannot be read by the worker; the detail says why.'),
  code_error: failed('The spider’s code failed on the page; the detail says where.'),
  code_timeout: failed('The spider’s code took longer than CODE_TIMEOUT for the page.'),
  worker_lost: failed('It took its worker, or the browser, down MAX_DELIVERIES times.'),
  unstorable: failed('The database refuses what was read; the detail and the worker’s log say why.'),
} as const satisfies Record<FailureCode, ReasonRow> & Record<string, ReasonRow>

export type Reason = keyof typeof REASONS | `http_${number}`

/** What becomes of the URL; see the table above. */
export function classify(result: Fetched | FetchFailure, policy: RetryPolicy): Outcome {
  if (result instanceof FetchFailure) {
    return {
      state: REASONS[result.code].state,
      reason: result.code,
      detail: result.detail,
      ...(LATE.has(result.code) && { strain: 'late' }),
    }
  }
  const { status } = result
  const asked = retryAfter(result.headers)
  if (isChallenge(result)) return { ...because('blocked_challenge'), ...asked }
  if (status >= 200 && status < 300) return classifyPage(result, policy)
  if (status === 304 && policy.conditional) return because('unchanged')
  if ((status === 404 || status === 410) && policy.wasThere) return because('gone')
  if (status === 403) return { ...because('blocked_403'), ...asked }
  const reason: Reason = `http_${status}`
  if (PASSING.has(status) || policy.retryCodes.includes(status))
    return {
      state: 'retry',
      reason,
      ...(BUSY.has(status) && { strain: 'busy' }),
      ...asked,
    }
  return { state: status >= 300 && status < 500 ? 'ignored' : 'failed', reason }
}

/** Request timeout, too early, too many requests: the server itself asks for another try. */
const PASSING = new Set([408, 425, 429])

/** The server says that it is asked too much: all of its pages wait, whichever worker has them. */
const BUSY = new Set([429, 503])

/** Connected, but not answered in time. A connection that is never had says more of the way there. */
const LATE = new Set<FailureCode>(['timeout_headers', 'timeout_idle', 'timeout_total'])

function classifyPage({ truncated, body, contentType }: Fetched, { binary }: RetryPolicy): Outcome {
  if (truncated === 'cap') return because('too_large', `longer than ${body.length} bytes`)
  if (truncated === 'cut') return because('truncated', `ended after ${body.length} bytes`)
  if (!binary && documentType(body, contentType) === 'binary')
    return because('type', `it is no text, whatever its Content-Type (${contentType ?? 'none'}) says`)
  return { state: 'done', reason: null }
}

function because(reason: keyof typeof REASONS, detail?: string): Outcome {
  return { state: REASONS[reason].state, reason, ...(detail && { detail }) }
}

const HOUR_MS = 3_600_000

/**
 * Retry-After (RFC 9110 §10.2.3): seconds, with a fraction too as some write it, or a date, which is held against the server's
 * own clock where it tells the time. Of several values the longest counts. What is neither, or lies in the past, says nothing.
 */
function retryAfter(headers: Headers): { retryAfterMs?: number } {
  const text = (headers['retry-after'] ?? '').trim()
  const ms = /^\d[\d., ]*$/.test(text)
    ? Math.max(...text.split(',').map((part) => Math.ceil(Number(part) * 1000)))
    : httpDate(text) - (httpDate(headers.date ?? '') || Date.now())
  return ms > 0 ? { retryAfterMs: Math.min(ms, HOUR_MS) } : {}
}

/** NaN for what is no date in one of HTTP's three forms; `Date.parse` alone takes nearly anything, `-5` included. */
function httpDate(text: string): number {
  if (!/^[A-Za-z]{3,9},? .*\d{2}:\d{2}:\d{2}/.test(text)) return Number.NaN
  // The oldest form (asctime) leaves the zone out.
  return Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
}

/**
 * Milliseconds to wait after the `attempt`-th failure in a row, counted from 1: 2, 4, 8 … s, each within ±50 %, an hour at most.
 * The jitter keeps pages that failed together from coming back together.
 */
export function retryDelayMs(attempt: number, random: () => number = Math.random): number {
  const base = 2000 * 2 ** Math.min(Math.max(attempt, 1) - 1, 20)
  return Math.min(Math.round(base * (0.5 + random())), HOUR_MS)
}
