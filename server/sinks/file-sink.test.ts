import { appendFile, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fileSink } from './file-sink'
import type { SinkRecord } from './sink'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orbweaver-sink-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const record = (n: number, more: Partial<SinkRecord> = {}): SinkRecord => ({
  id: `1-ab-${n}`,
  spider: 'shop',
  run: 1,
  url: `https://a.test/${n}`,
  fetchedAt: '2026-03-01T23:59:59.999Z',
  name: 'product',
  data: { title: `第${n}号 "quoted"\r\nand broken`, price: n },
  ...more,
})
const records = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => record(from + n))
const jsonl = () => fileSink({ folder, rotate: 'day' })
const csv = (columns = ['title', 'price']) => fileSink({ folder, rotate: 'day', columns })
const read = (kind: string) => readFile(join(folder, `shop-2026-03-01.${kind}`))
const idsOf = {
  jsonl: (bytes: Buffer) =>
    bytes
      .toString()
      .split('\n')
      .filter(Boolean)
      .map((line) => (JSON.parse(line) as SinkRecord).id),
  csv: (bytes: Buffer) =>
    (parse(bytes, { bom: true, columns: true }) as { id: string }[]).map(({ id }) => id),
}

test('each spider and day has a file, by when the page was fetched, and each item is a line of JSON', async () => {
  await jsonl().write([
    record(1),
    record(2, { fetchedAt: '2026-03-02T00:00:00.000Z' }),
    record(3, { spider: 'news' }),
  ])
  expect((await readdir(folder)).toSorted()).toEqual([
    'news-2026-03-01.jsonl',
    'shop-2026-03-01.jsonl',
    'shop-2026-03-02.jsonl',
  ])
  expect(JSON.parse((await read('jsonl')).toString())).toEqual(record(1))
})

test('a CSV file has a head, and what a page says is no formula in it', async () => {
  await csv().write([record(1, { data: { title: '=HYPERLINK("x")', more: 1 } })])
  expect(parse(await read('csv'), { bom: true })).toEqual([
    ['id', 'url', 'fetchedAt', 'name', 'title', 'price'],
    ['1-ab-1', 'https://a.test/1', '2026-03-01T23:59:59.999Z', 'product', `'=HYPERLINK("x")`, ''],
  ])
})

test.each(['jsonl', 'csv'] as const)(
  'whichever byte a crash cut a %s file at, what comes again leaves each item there once, and no broken line',
  async (kind) => {
    const open = () => (kind === 'csv' ? csv() : jsonl())
    const path = join(folder, `shop-2026-03-01.${kind}`)
    await open().write(records(0, 2))
    const before = (await read(kind)).length
    await open().write(records(2, 3))
    const whole = await read(kind)
    for (let cut = 0; cut <= whole.length; cut++) {
      await writeFile(path, whole)
      await truncate(path, cut)
      // Whatever was not yet written down as taken comes again.
      await open().write(cut < before ? records(0, 3) : records(2, 3))
      expect(idsOf[kind](await read(kind))).toEqual(records(0, 3).map(({ id }) => id))
      expect(await read(kind)).toEqual(whole)
    }
  },
)

test('an item that was stored anew is written again, under its id', async () => {
  await jsonl().write([record(1)])
  await jsonl().write([record(1, { data: { title: 'new' } })])
  expect(idsOf.jsonl(await read('jsonl'))).toEqual(['1-ab-1', '1-ab-1'])
})

test('a file that somebody took away is begun anew, and one that somebody wrote to is looked through', async () => {
  const sink = csv()
  await sink.write(records(0, 2))
  await rm(join(folder, 'shop-2026-03-01.csv'))
  await sink.write(records(2, 3))
  expect(idsOf.csv(await read('csv'))).toEqual(['1-ab-2'])
  await appendFile(join(folder, 'shop-2026-03-01.csv'), '1-ab-9,"torn')
  await sink.write(records(2, 4))
  expect(idsOf.csv(await read('csv'))).toEqual(['1-ab-2', '1-ab-3'])
})

test('a CSV file with other columns is left as it is, and items wait until somebody has moved it', async () => {
  await csv().write(records(0, 2))
  const before = await read('csv')
  await expect(csv(['price']).write(records(2, 3))).rejects.toThrow(/has other columns; move it away/)
  expect(await read('csv')).toEqual(before)
})

test('a line that is longer than all that is remembered of a file keeps what stands before it', async () => {
  const long = record(1, { data: { title: 'x'.repeat(17_000_000) } })
  await jsonl().write([record(0), long])
  const { length } = await read('jsonl')
  await truncate(join(folder, 'shop-2026-03-01.jsonl'), length - 1)
  await jsonl().write([record(2)])
  expect(idsOf.jsonl(await read('jsonl'))).toEqual(['1-ab-0', '1-ab-2'])
})
