import { expect, it } from 'vitest'
import { FAILURE_CODES, FetchFailure } from './fetch/failure'
import type { Fetched } from './fetch/fetcher'
import { classify, REASONS, retryDelayMs } from './outcome'

const policy = { retryCodes: [500, 502, 503, 504] }
const page = (status: number, more: Partial<Fetched> = {}): Fetched => ({
  url: 'http://a.example/',
  finalUrl: 'http://a.example/',
  status,
  headers: {},
  contentType: 'text/html',
  body: Buffer.from('abc'),
  truncated: null,
  wireBytes: 3,
  headersMs: 1,
  lenient: false,
  ms: 1,
  redirects: [],
  hops: [],
  ...more,
})

it.each([
  [200, 'done', null],
  [204, 'done', null],
  [206, 'done', null],
  [300, 'ignored', 'http_300'],
  [302, 'ignored', 'http_302'],
  [304, 'ignored', 'http_304'],
  [400, 'ignored', 'http_400'],
  [401, 'ignored', 'http_401'],
  [403, 'failed', 'blocked_403'],
  [404, 'ignored', 'http_404'],
  [408, 'retry', 'http_408'],
  [410, 'ignored', 'http_410'],
  [425, 'retry', 'http_425'],
  [429, 'retry', 'http_429'],
  [451, 'ignored', 'http_451'],
  [500, 'retry', 'http_500'],
  [501, 'failed', 'http_501'],
  [502, 'retry', 'http_502'],
  [503, 'retry', 'http_503'],
  [504, 'retry', 'http_504'],
  [505, 'failed', 'http_505'],
  [999, 'failed', 'http_999'],
])('%i is %s', (status, state, reason) => {
  expect(classify(page(status), policy)).toMatchObject({ state, reason })
})

it('the policy’s codes are retried, and only they; a 403 never', () => {
  const own = { retryCodes: [403, 404, 521] }
  expect(classify(page(404), own).state).toBe('retry')
  expect(classify(page(521), own).state).toBe('retry')
  expect(classify(page(503), own).state).toBe('failed')
  expect(classify(page(403), own)).toMatchObject({ state: 'failed', reason: 'blocked_403' })
})

it('a page that is too long is ignored, one that was cut is fetched again', () => {
  expect(classify(page(200, { truncated: 'cap' }), policy)).toMatchObject({
    state: 'ignored',
    reason: 'too_large',
  })
  expect(classify(page(200, { truncated: 'cut' }), policy)).toMatchObject({
    state: 'retry',
    reason: 'truncated',
  })
  expect(classify(page(404, { truncated: 'cut' }), policy)).toMatchObject({
    state: 'ignored',
    reason: 'http_404',
  })
})

it.each([
  ['dns', 'retry'],
  ['connect', 'retry'],
  ['tls', 'retry'],
  ['timeout_connect', 'retry'],
  ['timeout_headers', 'retry'],
  ['timeout_idle', 'retry'],
  ['timeout_total', 'retry'],
  ['reset', 'retry'],
  ['malformed_http', 'retry'],
  ['private_address', 'ignored'],
  ['bad_scheme', 'ignored'],
  ['redirect_scope', 'ignored'],
  ['robots', 'ignored'],
  ['type', 'ignored'],
  ['redirect_loop', 'failed'],
  ['redirect_limit', 'failed'],
] as const)('a fetch that ended in %s is %s', (code, state) => {
  expect(classify(new FetchFailure(code, 'why'), policy)).toMatchObject({
    state,
    reason: code,
    detail: 'why',
  })
})

it('every failure has a row, and every row has words and fits the column', () => {
  for (const code of FAILURE_CODES) expect(REASONS).toHaveProperty(code)
  for (const [reason, { words }] of Object.entries(REASONS)) {
    expect(reason.length).toBeLessThanOrEqual(40)
    expect(words).toMatch(/\.$/)
  }
})

const after = (value: string, status = 503) =>
  classify(page(status, { headers: { 'retry-after': value } }), policy).retryAfterMs

it('Retry-After is heeded in seconds and as a date, up to an hour', () => {
  expect(after('120')).toBe(120_000)
  expect(after('120', 429)).toBe(120_000)
  expect(after('99999999999999999999')).toBe(3_600_000)
  expect(after('1.5')).toBe(1500)
  expect(after('30, 120')).toBe(120_000)
  const soon = after(new Date(Date.now() + 60_000).toUTCString())
  expect(soon).toBeGreaterThan(50_000)
  expect(soon).toBeLessThanOrEqual(60_000)
  expect(after('Fri, 31 Dec 2999 23:59:59 GMT')).toBe(3_600_000)
  expect(after('Friday, 31-Dec-49 23:59:59 GMT')).toBe(3_600_000)
  expect(after('Fri Dec 31 23:59:59 2999')).toBe(3_600_000)
})

it('a date in Retry-After is held against the clock of the server that wrote it', () => {
  const headers = {
    date: 'Sun, 06 Nov 1994 08:49:37 GMT',
    'retry-after': 'Sun, 06 Nov 1994 08:50:07 GMT',
  }
  expect(classify(page(429, { headers }), policy).retryAfterMs).toBe(30_000)
})

it('who says that it is asked too much, or does not answer in time, is to be slowed down; who refuses us is not', () => {
  expect(classify(page(429), policy).strain).toBe('busy')
  expect(classify(page(503), policy).strain).toBe('busy')
  expect(classify(page(500), policy).strain).toBeUndefined()
  expect(classify(new FetchFailure('timeout_headers', 'why'), policy).strain).toBe('late')
  expect(classify(new FetchFailure('connect', 'why'), policy).strain).toBeUndefined()
  expect(classify(page(403, { headers: { 'retry-after': '60' } }), policy)).toMatchObject({
    reason: 'blocked_403',
    retryAfterMs: 60_000,
  })
})

it.each([
  '',
  '0',
  '-5',
  'soon',
  'NaN',
  '1.2.3',
  '12 monkeys',
  'Sun, 06 Nov 1994 08:49:37 GMT',
  'Xyz, 99 Foo 2999 99:99:99 GMT',
])('Retry-After %j says nothing', (value) => {
  expect(after(value)).toBeUndefined()
})

it('retries wait 2, 4, 8 … seconds within ±50 %, an hour at most', () => {
  const middle = () => 0.5
  expect([1, 2, 3, 4].map((attempt) => retryDelayMs(attempt, middle))).toEqual([2000, 4000, 8000, 16_000])
  expect(retryDelayMs(1, () => 0)).toBe(1000)
  expect(retryDelayMs(1, () => 0.999_999)).toBe(3000)
  expect(retryDelayMs(1000)).toBe(3_600_000)
  expect(retryDelayMs(0, middle)).toBe(2000)
})
