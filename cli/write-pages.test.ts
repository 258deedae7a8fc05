import { mkdir, mkdtemp, readdir, readFile, rm, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { PageRecord } from '../server/services/export-pages'
import { checkOutput, writePages } from './write-pages'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orbweaver-out-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const page = {
  url: 'http://a.example/?q="x",y',
  finalUrl: 'http://a.example/',
  status: 200,
  state: 'done',
  reason: null,
  title: '=SUM(1)\nline two, 绿茶 "quoted" ',
  depth: 0,
  referrer: ' blank ',
  contentType: 'text/html',
  charset: 'utf-8',
  bytes: 12,
  ms: 3,
  attempts: 1,
  items: [{ name: 'page', data: { title: 'a, "b"' } }],
} as unknown as PageRecord

async function* pages(...records: (PageRecord | Error)[]) {
  for (const record of records) {
    if (record instanceof Error) throw record
    yield record
  }
}

describe('writePages', () => {
  test('a JSON line gives back every value as it was', async () => {
    const file = join(folder, 'out.jsonl')
    await writePages(file, pages(page, page))
    const lines = (await readFile(file, 'utf8')).trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toEqual([page, page])
  })

  test('a CSV row gives back quotes, commas, line ends, blanks and formulas as they were', async () => {
    const file = join(folder, 'out.csv')
    await writePages(file, pages(page))
    const text = await readFile(file, 'utf8')
    // Programs that trim what stands without quotes keep these.
    expect(text).toContain('," blank ",')
    const [row] = parse(text, { columns: true }) as Record<string, string>[]
    const { items, flags: _, ...values } = row!
    const { items: _items, ...written } = page
    expect(values).toEqual(
      Object.fromEntries(Object.entries(written).map(([name, value]) => [name, String(value ?? '')])),
    )
    expect(JSON.parse(items!)).toEqual(page.items)
  })

  test('when the pages break off, the file that was there before is unchanged and nothing is left beside it', async () => {
    const file = join(folder, 'out.jsonl')
    await writePages(file, pages(page))
    const before = await readFile(file)
    await expect(writePages(file, pages(page, new Error('database gone')))).rejects.toThrow('database gone')
    expect(await readFile(file)).toEqual(before)
    expect(await readdir(folder)).toEqual(['out.jsonl'])
  })
})

describe('checkOutput', () => {
  test('refuses an unknown format, a folder, and a path that is not there, each with its remedy', async () => {
    await expect(checkOutput(join(folder, 'out.xml'))).rejects.toThrow(/ends with \.jsonl or \.csv/)
    await expect(checkOutput(join(folder, 'no', 'out.csv'))).rejects.toThrow(/make the folder/)
    await mkdir(join(folder, 'is-one.csv'))
    await expect(checkOutput(join(folder, 'is-one.csv'))).rejects.toThrow(/not a file; give another name/)
    await rmdir(join(folder, 'is-one.csv'))
    await expect(checkOutput(join(folder, 'out.csv'))).resolves.toBeUndefined()
    expect(await readdir(folder)).toEqual([])
  })
})
