import { expect, test } from 'vitest'
import { type Spider, spiderSchema } from '../core/spider'
import { conditionsOf, isDue, rulesOf, validatorsOf } from './revisit'
import type { LastVisit } from './sink/visits'
import { latestOf } from './sitemap/lastmod'

const spider = (revisit: object = {}): Spider =>
  spiderSchema.parse({ name: 'again', revisit: { mode: 'due', ...revisit } })
const visit = (more: Partial<LastVisit> = {}): LastVisit => ({
  run: 1,
  contentRun: 1,
  gone: false,
  title: null,
  finalUrl: 'https://a.example/',
  etag: '"v1"',
  lastModified: 'Sat, 01 Aug 2026 10:00:00 GMT',
  trusted: true,
  streak: 0,
  digest: Buffer.alloc(20),
  extract: Buffer.alloc(20),
  rules: rulesOf(spider()),
  links: [],
  intervalSeconds: 3600,
  dueAt: new Date(2000),
  visitedAt: new Date(1000),
  ...more,
})

test.each([
  ['"strong"', '"strong"'],
  ['W/"weak"', 'W/"weak"'],
  ['""', '""'],
  ['"ä"', '"ä"'],
  ['unquoted', null],
  ['w/"case"', null],
  ['"a", "b"', null],
  ['"a b"', null],
  [`"${'x'.repeat(600)}"`, null],
])('the ETag %j is taken as %j', (etag, taken) => {
  expect(validatorsOf({ etag }).etag).toBe(taken)
})

test.each([
  ['a second older than its answer', 'Sat, 01 Aug 2026 10:00:00 GMT', 'Sat, 01 Aug 2026 10:00:01 GMT', true],
  ['of the second of its answer', 'Sat, 01 Aug 2026 10:00:00 GMT', 'Sat, 01 Aug 2026 10:00:00 GMT', false],
  ['from the future', 'Sat, 01 Aug 2026 11:00:00 GMT', 'Sat, 01 Aug 2026 10:00:00 GMT', false],
  ['without a Date beside it', 'Sat, 01 Aug 2026 10:00:00 GMT', undefined, false],
  ['that is no HTTP date', '2026-08-01', 'Sat, 01 Aug 2026 10:00:01 GMT', false],
])('a Last-Modified %s counts: %s', (_, modified, date, counts) => {
  const { lastModified } = validatorsOf({ 'last-modified': modified, ...(date && { date }) })
  expect(lastModified).toBe(counts ? modified : null)
})

test('a page is asked for by what its last answer said, at the URL that said it', () => {
  expect(conditionsOf(visit(), spider())).toEqual({
    url: 'https://a.example/',
    headers: { 'if-none-match': '"v1"', 'if-modified-since': 'Sat, 01 Aug 2026 10:00:00 GMT' },
  })
})

test.each<[string, Partial<LastVisit>]>([
  ['nothing is known to ask by', { etag: null, lastModified: null }],
  ['its server was seen to lie', { trusted: false }],
  ['it was gone', { gone: true }],
  ['it was taken at its word often enough', { streak: 10 }],
  ['other rules took other things from it', { rules: Buffer.alloc(20, 1) }],
])('a page comes whole when %s', (_, more) => {
  expect(conditionsOf(visit(more), spider())).toBeNull()
})

test('pages are due by their interval, new ones only when a sitemap calls them, all of them when the rules are others', () => {
  const at = (ms: number) => new Date(ms)
  expect(isDue(visit(), spider(), at(1999))).toBe(false)
  expect(isDue(visit(), spider(), at(2000))).toBe(true)
  expect(isDue(visit(), spider({ mode: 'new' }), at(9000))).toBe(false)
  expect(isDue(visit({ dueAt: at(1000) }), spider({ mode: 'new' }), at(1000))).toBe(true)
  expect(isDue(visit({ rules: Buffer.alloc(20, 1) }), spider(), at(1999))).toBe(true)
  expect(isDue(visit(), spider({ mode: 'changed' }), at(1000))).toBe(true)
})

test('a date without a time means its whole day', () => {
  expect(latestOf('2026-12-01')?.toISOString()).toBe('2026-12-01T23:59:59.999Z')
  expect(latestOf('2026-12-01T10:00:00+08:00')?.toISOString()).toBe('2026-12-01T02:00:00.000Z')
  expect(latestOf('soon')).toBeNull()
})
