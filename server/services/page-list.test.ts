import { afterAll, beforeAll, expect, test } from 'vitest'
import { urlHash } from '../../core/url'
import { pages } from '../../drizzle/schema/pages'
import { openServerRig, type ServerRig } from '../../tests/server-rig'
import { select } from '../db'
import type { PageFilter } from './page-filter'
import { countPages, listPages, type PageCursor, pageFacets } from './page-list'

const RUN = 500
let rig: ServerRig
/** Of three states, four hosts, five depths; sixteen of one instant, so that time alone sorts nothing. */
const rows = Array.from({ length: 240 }, (_, n) => {
  const url = `https://h${n % 4}.test${n % 4 === 3 ? ':8443' : ''}/${n % 7 === 0 ? '100%_' : 'p'}/${n}`
  const state = (['done', 'failed', 'ignored'] as const)[n % 3]!
  return {
    runId: RUN,
    urlHash: urlHash(url),
    url,
    state,
    reason: state === 'done' ? null : n % 2 ? 'http_500' : 'dns',
    status: state === 'done' ? 200 : n % 2 ? 500 : null,
    depth: n % 5,
    attempts: 0,
    deliveries: 1,
    items: n % 4,
    token: '1.1',
    fetchedAt: new Date(Date.UTC(2026, 4, 1, 10, 0, Math.floor(n / 16))),
  }
})
beforeAll(async () => {
  rig = await openServerRig()
  const { orm } = rig.services.database
  await orm.insert(pages).values(rows)
  await orm.insert(pages).values(rows.map((row) => ({ ...row, runId: RUN + 1 })))
})
afterAll(() => rig.close())

async function walked(
  filter: PageFilter,
  limit: number,
  bounds?: { ms: number; step: number },
): Promise<string[]> {
  const seen: string[] = []
  let before = Number.POSITIVE_INFINITY
  for (let after: PageCursor | null | undefined; after !== null; ) {
    const page = await listPages(rig.services, { run: RUN, filter, after, limit }, bounds)
    expect(page.pages.length).toBeLessThanOrEqual(limit)
    for (const { url, fetchedAt } of page.pages) {
      if (page.newestFirst) expect(fetchedAt).toBeLessThanOrEqual(before)
      before = fetchedAt
      seen.push(url)
    }
    after = page.next
  }
  return seen
}

const host = (url: string) => new URL(url).host
const fits = (filter: PageFilter) => (row: (typeof rows)[number]) =>
  (filter.state === undefined || row.state === filter.state) &&
  (filter.host === undefined || host(row.url) === filter.host) &&
  (filter.status === undefined || row.status === filter.status) &&
  (filter.reason === undefined || row.reason === filter.reason) &&
  (filter.depth === undefined || row.depth === filter.depth) &&
  (filter.url === undefined || row.url.includes(filter.url))

test.each<PageFilter>([
  {},
  { state: 'failed' },
  { host: 'h3.test:8443' },
  { status: 500 },
  { reason: 'dns' },
  { depth: 3 },
  { url: '%_/' },
  { state: 'ignored', host: 'h1.test' },
  { host: 'h2.test', depth: 2, url: '/p/' },
  { state: 'failed', host: 'h1.test', status: 500, reason: 'http_500', depth: 1, url: 'p' },
  { state: 'done', reason: 'dns' },
])(
  'a list by %j goes through all that answer to it once, newest first, and they are counted',
  async (filter) => {
    const expected = rows.filter(fits(filter)).map((row) => row.url)
    expect((await walked(filter, 7)).toSorted()).toEqual(expected.toSorted())
    // In small steps, and by the key as in a run of a million.
    const byKey = { ms: 0, step: 5, few: 3 }
    expect((await walked(filter, 7, byKey)).toSorted()).toEqual(expected.toSorted())
    expect((await countPages(rig.services, RUN, filter, { ...byKey, ms: 2_000 })).many).toBe(expected.length)
    expect((await walked(filter, 7, { ms: 0, step: 11 })).toSorted()).toEqual(expected.toSorted())
    expect(await countPages(rig.services, RUN, filter)).toEqual({ many: expected.length, whole: true })
    const stepped = await countPages(rig.services, RUN, filter, { ms: 2_000, step: 13 })
    expect(stepped.many).toBe(expected.length)
  },
)

test('a filter can name what the pages of the run have', async () => {
  expect(await pageFacets(rig.services, RUN)).toEqual({
    hosts: ['h0.test', 'h1.test', 'h2.test', 'h3.test:8443'],
    statuses: [200, 500],
    reasons: ['dns', 'http_500'],
  })
})

test.each([
  ['state', 'done'],
  ['host', 'h1.test'],
  ['status', 200],
  ['depth', 3],
  ['reason', 'dns'],
])(
  'the newest pages of one %s are read from its index in its own order, without sorting the run',
  async (column, value) => {
    const [plan] = await select<{ key: string; Extra: string }>(
      rig.services.database.pool,
      `EXPLAIN SELECT url FROM pages FORCE INDEX (pages_${column}) WHERE run_id = ? AND ${column} = ? ORDER BY fetched_at DESC, items DESC, url_hash DESC LIMIT 51`,
      [RUN, value],
    )
    expect(plan!.key).toBe(`pages_${column}`)
    expect(plan!.Extra).not.toContain('filesort')
  },
)
