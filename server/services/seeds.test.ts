import iconv from 'iconv-lite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openServerRig, type ServerRig } from '../../tests/server-rig'
import { importSeeds } from './seeds'
import { saveSpider } from './spiders'

let rig: ServerRig
beforeAll(async () => {
  rig = await openServerRig()
})
afterAll(() => rig.close())

/** Imports a file for a spider of its own, in pieces of `piece` bytes. */
async function imported(content: string | Buffer, piece = 7) {
  const spider = await saveSpider(rig.services, { name: `s${Math.random().toString(36).slice(2)}` }, 'test')
  const bytes = Buffer.from(content)
  async function* stream() {
    for (let at = 0; at < bytes.length; at += piece) yield bytes.subarray(at, at + piece)
  }
  const report = await importSeeds(rig.services, {
    spider: spider.id,
    fileName: 'seeds.csv',
    stream: stream(),
    actor: 'me',
  })
  const rows = await rig.rows<{ url: string; priority: number; depth: number; meta: string | null }>(
    'SELECT url, priority, depth, meta FROM seeds WHERE spider_id = ? ORDER BY url',
    [spider.id],
  )
  return { report, rows, urls: rows.map(({ url }) => url), spider }
}

test('columns are found by their names, in any order, and what is left over becomes meta', async () => {
  const { rows, report } = await imported(
    '\ufeffname,Depth,URL,Priority,meta\r\n"Shop, the ""best""",1,https://a.test/1,5,"{""k"":1}"\r\n,,https://a.test/2,,\r\n',
  )
  expect(report).toMatchObject({ rows: 2, accepted: 2, rejected: 0 })
  expect(rows).toEqual([
    { url: 'https://a.test/1', priority: 5, depth: 1, meta: '{"name":"Shop, the \\"best\\"","k":1}' },
    { url: 'https://a.test/2', priority: 0, depth: 0, meta: null },
  ])
})

test('a plain list of URLs needs no header, and a URL keeps its commas', async () => {
  const { urls, rows } = await imported(
    'https://a.test/x,y\nhttps://a.test/b,7\n\n   \nhttps://a.test/c\n"https://a.test/d,e",3,2',
  )
  expect(urls).toEqual(['https://a.test/b', 'https://a.test/c', 'https://a.test/d,e', 'https://a.test/x,y'])
  expect(rows.map(({ priority, depth }) => [priority, depth])).toEqual([
    [7, 0],
    [0, 0],
    [3, 2],
    [0, 0],
  ])
})

test('a file with the one column url keeps the commas of its URLs too', async () => {
  const { urls } = await imported('url\nhttps://a.test/x,y\n"https://a.test/z,1"\nhttps://a.test/p;q,r')
  expect(urls).toEqual(['https://a.test/p;q,r', 'https://a.test/x,y', 'https://a.test/z,1'])
})

test('a row with more fields than the header is refused, not cut to a URL that nobody meant', async () => {
  const { urls, report } = await imported(
    'url,priority\nhttps://a.test/x,4,3\nhttps://a.test/ok,3,,\n"https://a.test/y,5",3\n',
  )
  expect(urls).toEqual(['https://a.test/ok', 'https://a.test/y,5'])
  expect(report.report).toMatchObject([{ line: 2, reason: expect.stringMatching(/3 fields, the header 2/) }])
})

test.each([
  ['semicolons', 'url;priority\nhttps://a.test/;4\n'],
  ['tabs', 'priority\tlink\n4\thttps://a.test/\n'],
  ['old Mac line ends', 'url,priority\rhttps://a.test/,4\r'],
])('%s are understood', async (_, text) => {
  expect((await imported(text)).rows).toMatchObject([{ url: 'https://a.test/', priority: 4 }])
})

test.each(['utf8', 'gbk', 'gb18030', 'utf-16le', 'utf-16be'])(
  'Chinese text in %s arrives as it was written',
  async (encoding) => {
    const bytes = iconv.encode(
      '网址,名称\nhttps://a.test/1,中文商品目录\nhttps://a.test/2,数据\n',
      encoding,
      { addBOM: encoding.startsWith('utf-16') },
    )
    const { rows } = await imported(bytes)
    expect(rows.map(({ meta }) => JSON.parse(meta!))).toEqual([{ 名称: '中文商品目录' }, { 名称: '数据' }])
  },
)

test('each bad line is named with its number and reason, and every good one is kept', async () => {
  const { report, urls } = await imported(
    [
      'url,priority,depth',
      'https://a.test/1,1,0',
      'ftp://a.test/',
      'https://a.test/2,high,0',
      '"https://a.test/never-closed,1,0',
      'https://a.test/3,5000,0',
      '"https://a.test/4"x,1',
      'https://user:secret@a.test/',
      ',1,1',
      'https://a.test/5,,',
      'https://a.test/1',
    ].join('\n'),
  )
  expect(urls).toEqual(['https://a.test/1', 'https://a.test/5'])
  expect(report).toMatchObject({ rows: 10, accepted: 2, duplicates: 1, rejected: 7 })
  expect(report.report.map(({ line }) => line)).toEqual([3, 4, 5, 6, 7, 8, 9])
  for (const [line, reason] of [
    [3, /ftp/],
    [4, /priority/],
    [5, /quote is not closed/],
    [6, /priority/],
    [7, /follows a closing quote/],
  ] as const)
    expect(report.report.find((one) => one.line === line)!.reason).toMatch(reason)
})

test('a field in quotes may go on over lines, and lines are still counted as the editor shows them', async () => {
  const { report, rows } = await imported('url,note\nhttps://a.test/1,"two\nlines"\nnot a url,\n')
  expect(rows[0]!.meta).toBe('{"note":"two\\nlines"}')
  expect(report.report).toMatchObject([{ line: 4 }])
})

test('a line of a megabyte is one bad line', async () => {
  const { report, urls } = await imported(
    `url\nhttps://a.test/${'x'.repeat(1_000_000)}\nhttps://a.test/ok\n`,
    65_536,
  )
  expect(report.report).toMatchObject([{ line: 2, reason: expect.stringMatching(/longer than/) }])
  expect(urls).toEqual(['https://a.test/ok'])
})

test('what was there before counts as a duplicate and stays as it is', async () => {
  const { spider } = await imported('url,priority\nhttps://a.test/1,5\n')
  const again = await importSeeds(rig.services, {
    spider: spider.name,
    fileName: 'again.csv',
    stream: (async function* () {
      yield Buffer.from('url,priority\nhttps://a.test/1,9\nhttps://a.test/2,9\n')
    })(),
    actor: 'me',
  })
  expect(again).toMatchObject({ accepted: 1, duplicates: 1 })
  expect(await rig.rows('SELECT priority FROM seeds WHERE spider_id = ? ORDER BY url', [spider.id])).toEqual([
    { priority: 5 },
    { priority: 9 },
  ])
})

test('a file that breaks off leaves no seed behind, and its import says why', async () => {
  const spider = await saveSpider(rig.services, { name: 'broken' }, 'test')
  async function* stream() {
    yield Buffer.from(`url\n${Array.from({ length: 1500 }, (_, n) => `https://a.test/${n}`).join('\n')}\n`)
    throw new Error('the upload was cut off')
  }
  await expect(
    importSeeds(rig.services, { spider: 'broken', fileName: 'b.csv', stream: stream(), actor: 'me' }),
  ).rejects.toThrow('cut off')
  expect(await rig.rows('SELECT COUNT(*) AS n FROM seeds WHERE spider_id = ?', [spider.id])).toEqual([
    { n: 0 },
  ])
  expect(await rig.rows('SELECT state, error FROM imports WHERE spider_id = ?', [spider.id])).toEqual([
    { state: 'failed', error: 'the upload was cut off' },
  ])
})
