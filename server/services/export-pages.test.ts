import { afterAll, beforeAll, expect, test } from 'vitest'
import { urlHash } from '../../core/url'
import { openServerRig, type ServerRig } from '../../tests/server-rig'
import { type PageRecord, pageRows } from './export-pages'

let rig: ServerRig
beforeAll(async () => {
  rig = await openServerRig()
})
afterAll(() => rig.close())

interface Stored {
  url: string
  /** The page's own count of its items; those given are stored. */
  count?: number
  items?: { name: string; data: unknown }[]
}

/** Stores pages as workers do, in random order. */
async function store(run: number, pages: Stored[]): Promise<void> {
  const rows = pages.map(({ url, count, items = [] }) => [
    run,
    urlHash(url),
    url,
    'done',
    0,
    1,
    1,
    count ?? items.length,
    '1.1',
    new Date(),
  ])
  await rig.rows(
    'INSERT INTO pages (run_id, url_hash, url, state, depth, attempts, deliveries, items, token, fetched_at) VALUES ?',
    [rows],
  )
  const items = pages.flatMap(({ url, items = [] }) =>
    items.map(({ name, data }, n) => [run, urlHash(url), n, name, JSON.stringify(data), new Date()]),
  )
  if (items.length > 0)
    await rig.rows('INSERT INTO items (run_id, url_hash, n, name, data, created_at) VALUES ?', [items])
}

async function read(
  run: number,
  each?: (page: PageRecord, n: number) => Promise<void>,
): Promise<PageRecord[]> {
  const pages: PageRecord[] = []
  for await (const page of pageRows(rig.services, run)) {
    pages.push(page)
    await each?.(page, pages.length)
  }
  return pages
}

const urls = (many: number, folder: string) =>
  Array.from({ length: many }, (_, n) => `https://a.test/${folder}/${n}`)

test('each page of a run comes once, whatever their number, with its own items in their order', async () => {
  for (const [run, many] of [
    [1, 0],
    [2, 1],
    [3, 500],
    [4, 501],
    [5, 1203],
  ] as const) {
    const stored = urls(many, 'each').map((url, n) => ({
      url,
      items: Array.from({ length: n % 4 }, (_, m) => ({ name: m % 2 ? 'odd' : 'even', data: { url, m } })),
    }))
    if (many > 0) await store(run, stored)
    const found = await read(run)
    expect(found).toHaveLength(many)
    const byUrl = new Map(found.map(({ url, items }) => [url, items]))
    for (const { url, items } of stored) expect(byUrl.get(url)).toEqual(items)
  }
})

test('pages with a great many items are read in parts, and none is lost between them', async () => {
  const stored = urls(7, 'great').map((url) => ({
    url,
    count: 15_000,
    items: [
      { name: 'page', data: { url, text: '中文 “é”' } },
      { name: 'page', data: [] },
    ],
  }))
  await store(10, stored)
  const found = await read(10)
  expect(new Map(found.map(({ url, items }) => [url, items]))).toEqual(
    new Map(stored.map(({ url, items }) => [url, items])),
  )
})

test('what is stored meanwhile neither repeats a page nor hides another', async () => {
  const before = urls(1200, 'before')
  await store(
    20,
    before.map((url) => ({ url })),
  )
  const found = await read(20, async (_, n) => {
    if (n % 300 === 1)
      await store(
        20,
        urls(100, `meanwhile-${n}`).map((url) => ({ url })),
      )
  })
  const seen = found.map(({ url }) => url)
  expect(new Set(seen).size).toBe(seen.length)
  expect(seen).toEqual(expect.arrayContaining(before))
})
