import { afterAll, beforeAll, expect, test } from 'vitest'
import { packLinks } from '../../core/stored-links'
import { urlHash } from '../../core/url'
import { type Database, openDatabase } from '../../drizzle/database'
import { freshDatabase } from '../../tests/services'
import { type PageRecord, storedPage, storePages } from './pages'

let site: { url: string; drop(): Promise<void> }
let database: Database
beforeAll(async () => {
  site = await freshDatabase()
  database = openDatabase(site.url, 12)
})
afterAll(async () => {
  await database.close()
  await site.drop()
})

let run = 0
const record = (url: string, token: string, more: Partial<PageRecord> = {}): PageRecord => ({
  run,
  hash: urlHash(url),
  url,
  finalUrl: url,
  state: 'done',
  reason: null,
  detail: null,
  status: 200,
  title: 'T',
  depth: 0,
  referrer: null,
  contentType: 'text/html',
  flags: null,
  charset: 'utf-8',
  bytes: 10,
  ms: 5,
  attempts: 1,
  deliveries: 1,
  items: [],
  links: null,
  digest: null,
  warc: null,
  archive: null,
  contentRun: null,
  visit: null,
  token: `000001.${token.padStart(15, '0')}`,
  fetchedAt: new Date(),
  ...more,
}) // prettier-ignore
const item = (value: unknown) => ({ name: 'page', data: { value } })
const rows = async (sql: string, values: unknown[] = []) =>
  (await database.pool.query(sql, values))[0] as Record<string, unknown>[]
const itemsOf = async (url: string) =>
  (
    await rows('SELECT data FROM items WHERE run_id = ? AND url_hash = ? ORDER BY n', [run, urlHash(url)])
  ).map((row) => JSON.parse(row.data as string).value)

test('the row of the highest token wins, whichever order they arrive in, and only its items are kept', async () => {
  run++
  const url = 'https://a/fence'
  await storePages(database.pool, [record(url, '7', { title: 'new', deliveries: 2, items: [item('new')] })])
  await storePages(database.pool, [record(url, '3', { title: 'old', items: [item('old'), item('old too')] })])
  expect(await rows('SELECT title, token FROM pages WHERE run_id = ?', [run])).toEqual([
    { title: 'new', token: '000001.000000000000007' },
  ])
  expect(await itemsOf(url)).toEqual(['new'])
  await storePages(database.pool, [record(url, '9', { title: 'newest', deliveries: 3, items: [] })])
  expect(await rows('SELECT title, items FROM pages WHERE run_id = ?', [run])).toEqual([
    { title: 'newest', items: 0 },
  ])
  expect(await itemsOf(url)).toEqual([])
})

test('storing the same batch again changes nothing', async () => {
  run++
  const batch = [record('https://a/1', '1', { items: [item(1), item(2)] }), record('https://a/2', '2')]
  await storePages(database.pool, batch)
  const before = await rows('SELECT * FROM pages WHERE run_id = ? ORDER BY url_hash', [run])
  await storePages(database.pool, batch)
  expect(await rows('SELECT * FROM pages WHERE run_id = ? ORDER BY url_hash', [run])).toEqual(before)
  expect(await itemsOf('https://a/1')).toEqual([1, 2])
})

test('URLs that differ only in case, accents or a trailing blank are different pages', async () => {
  run++
  const urls = ['https://a/A', 'https://a/a', 'https://a/x', 'https://a/x%20', 'https://a/é', 'https://a/e']
  await storePages(
    database.pool,
    urls.map((url, n) => record(url, String(n))),
  )
  expect(await rows('SELECT url FROM pages WHERE run_id = ?', [run])).toHaveLength(urls.length)
})

test('what the database refuses for its content fails alone, and says why', async () => {
  run++
  const verdicts = await storePages(database.pool, [
    record('https://a/good', '1'),
    record('https://a/bad', '2', { title: 'x'.repeat(70_000) }),
    record('https://a/fine', '3'),
  ])
  expect(verdicts).toEqual([null, expect.stringMatching(/too long/i), null])
  expect(
    (await rows('SELECT url FROM pages WHERE run_id = ? ORDER BY url', [run])).map((row) => row.url),
  ).toEqual(['https://a/fine', 'https://a/good'])
})

test('emoji, NUL, right-to-left marks and lone surrogates of a page are stored exactly, a lone surrogate as U+FFFD', async () => {
  run++
  const text = '😀 \u0000 \u202e عربي \u4e2d\u6587'
  await storePages(database.pool, [
    record('https://a/u', '1', { title: text, items: [item(text)] }),
    record('https://a/s', '2', { title: 'a\ud800b' }),
  ])
  expect(await rows("SELECT title FROM pages WHERE run_id = ? AND url = 'https://a/u'", [run])).toEqual([
    { title: text },
  ])
  expect(await itemsOf('https://a/u')).toEqual([text])
  expect(await rows("SELECT title FROM pages WHERE run_id = ? AND url = 'https://a/s'", [run])).toEqual([
    { title: 'a\ufffdb' },
  ])
})

test('twelve writers on the same pages lose no row', async () => {
  run++
  const urls = Array.from({ length: 60 }, (_, n) => `https://a/w${n}`)
  await Promise.all(
    Array.from({ length: 12 }, async (_, writer) => {
      for (let round = 0; round < 10; round++) {
        const shuffled = urls.toSorted(() => Math.random() - 0.5).slice(0, 40)
        await storePages(
          database.pool,
          shuffled.map((url) =>
            record(url, String(writer * 100 + round + 1), { deliveries: 2, items: [item(writer)] }),
          ),
        )
      }
    }),
  )
  const stored = await rows('SELECT COUNT(*) AS pages, SUM(items) AS items FROM pages WHERE run_id = ?', [
    run,
  ])
  expect(stored).toEqual([{ pages: 60, items: '60' }])
  expect(await rows('SELECT COUNT(*) AS n FROM items WHERE run_id = ?', [run])).toEqual([{ n: 60 }])
})

test('a stored page comes back with the links it offered', async () => {
  run++
  const links = [
    { url: 'https://a/x' },
    { url: 'https://a/中', priority: 7, meta: '{"tab":"\\t","line":"\\n"}' },
    { url: 'https://a/y', meta: '[]' },
  ]
  await storePages(database.pool, [record('https://a/l', '1', { links: packLinks(links) })])
  expect(await storedPage(database.pool, run, urlHash('https://a/l'))).toEqual({
    state: 'done',
    reason: null,
    links,
  })
  expect(await storedPage(database.pool, run, urlHash('https://a/none'))).toBeNull()
})
