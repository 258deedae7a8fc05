import iconv from 'iconv-lite'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openServerRig, type ServerRig } from '../../tests/server-rig'
import { readRun } from '../../worker/sink/runs'
import { openServices } from '../context'
import { withdrawImports } from '../scheduler/withdraw-imports'
import { createRun } from './runs'
import { hasSeeds, storedSeeds } from './seed-rows'
import { importSeeds } from './seeds'
import { saveSpider } from './spiders'
import { withdrawImport } from './withdraw-import'

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
    100_000,
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

const PATIENCE = { timeout: 20_000 }

/** A file of 1,200 seeds that is read up to some point after the thousandth, and goes on with `goOn`. */
async function halfRead(services = rig.services) {
  const spider = await saveSpider(rig.services, { name: `h${Math.random().toString(36).slice(2)}` }, 'test')
  const line = (n: number) => `https://half.test/${n}\n`
  let goOn = () => {}
  const paused = new Promise<void>((resolve) => {
    goOn = resolve
  })
  async function* stream() {
    yield Buffer.from(`url\n${Array.from({ length: 1100 }, (_, n) => line(n)).join('')}`)
    await paused
    yield Buffer.from(Array.from({ length: 100 }, (_, n) => line(1100 + n)).join(''))
  }
  const input = { spider: spider.id, fileName: 'half.csv', stream: stream(), actor: 'me' }
  const done = importSeeds(services, input)
  // Somebody looks at it below; until then a failure must not end the test run.
  done.catch(() => {})
  const stored = async () =>
    (await rig.rows<{ n: number }>('SELECT COUNT(*) AS n FROM seeds WHERE spider_id = ?', [spider.id]))[0]!.n
  await vi.waitUntil(async () => (await stored()) >= 500, PATIENCE)
  const record = async () =>
    (
      await rig.rows<{ id: number; state: string; error: string | null; open_for: number | null }>(
        'SELECT id, state, error, open_for FROM imports WHERE spider_id = ?',
        [spider.id],
      )
    )[0]!
  const silent = () =>
    rig.rows('UPDATE imports SET alive_at = alive_at - INTERVAL 61 SECOND WHERE spider_id = ?', [spider.id])
  return { spider, done, goOn, stored, record, silent }
}

test('seeds of a file count once it was read to its end, and then all at once', async () => {
  const { spider, done, goOn, stored } = await halfRead()
  const { pool } = rig.services.database
  const begin = () =>
    createRun(rig.services, { spider: spider.id, queue: rig.queue, trigger: 'manual' }).then(({ id }) => id)
  expect(await hasSeeds(pool, spider)).toBe(false)
  await expect(begin()).rejects.toThrow(/nowhere to begin/)
  goOn()
  expect(await done).toMatchObject({ accepted: 1200 })
  const counted = []
  for (let cursor = 0; ; cursor = counted.at(-1)!.id) {
    const some = await storedSeeds(pool, { id: 0, spiderId: spider.id, ownSeeds: false }, cursor)
    if (some.length === 0) break
    counted.push(...some)
  }
  expect(counted).toHaveLength(1200)
  const id = await begin()
  expect((await readRun(pool, id))!.seeds).toHaveLength(1200)
  await rig.rows("UPDATE imports SET state = 'running' WHERE spider_id = ?", [spider.id])
  expect((await readRun(pool, id))!.seeds).toEqual([])
  expect(await stored()).toBe(1200)
})

test('one file a spider is read at a time; the next is refused by name until that is done', async () => {
  const { spider, done, goOn } = await halfRead()
  const next = () =>
    importSeeds(rig.services, {
      spider: spider.id,
      fileName: 'next.csv',
      stream: (async function* () {
        yield Buffer.from('https://half.test/1\nhttps://half.test/new\n')
      })(),
      actor: 'me',
    })
  await expect(next()).rejects.toThrow(/Another file \(half\.csv\) is being read for the spider/)
  goOn()
  await done
  expect(await next()).toMatchObject({ accepted: 1, duplicates: 1 })
})

test('a file whose reader is silent for a minute is taken back at the next turn, and a reader that wakes up writes no more', async () => {
  const { done, goOn, stored, record, silent } = await halfRead()
  await withdrawImports(rig.services, () => true)
  expect(await record()).toMatchObject({ state: 'running' })
  await silent()
  await withdrawImports(rig.services, () => true)
  expect(await stored()).toBe(0)
  goOn()
  await expect(done).rejects.toThrow(/ended before it was done; import the file again/)
  expect(await stored()).toBe(0)
  expect(await record()).toMatchObject({
    state: 'failed',
    open_for: null,
    error: expect.stringMatching(/ended before/),
  })
})

test('a file that comes slowly, to a reader that lives, is read to its end', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    const { done, goOn, record, silent, spider } = await halfRead()
    await silent()
    vi.advanceTimersByTime(5_000)
    const alive =
      'SELECT 1 FROM imports WHERE spider_id = ? AND alive_at > UTC_TIMESTAMP(3) - INTERVAL 50 SECOND'
    await vi.waitUntil(async () => (await rig.rows(alive, [spider.id])).length > 0, PATIENCE)
    await withdrawImports(rig.services, () => true)
    expect(await record()).toMatchObject({ state: 'running' })
    goOn()
    expect(await done).toMatchObject({ accepted: 1200 })
  } finally {
    vi.useRealTimers()
  }
})

test('what a reader can’t take back itself, because the database is away from it, is taken back for it', async () => {
  const services = await openServices('reader')
  const { done, goOn, stored, record, silent } = await halfRead(services)
  await services.close()
  goOn()
  await expect(done).rejects.toThrow()
  expect(await record()).toMatchObject({ state: 'running' })
  expect(await stored()).toBeGreaterThan(0)
  await silent()
  await withdrawImports(rig.services, () => true)
  expect(await stored()).toBe(0)
})

test('an import that was taken back half-way is taken back to its end, and one that is finished is not touched', async () => {
  const { spider, rows } = await imported('url\nhttps://a.test/1\n')
  expect(rows).toHaveLength(1)
  const [row] = await rig.rows<{ id: number }>('SELECT id FROM imports WHERE spider_id = ?', [spider.id])
  await withdrawImport(rig.services, row!.id, 'nobody wants it')
  const left = () => rig.rows('SELECT url FROM seeds WHERE spider_id = ?', [spider.id])
  expect(await left()).toHaveLength(1)
  await rig.rows("UPDATE imports SET state = 'failed', open_for = spider_id WHERE id = ?", [row!.id])
  await withdrawImports(rig.services, () => true)
  expect(await left()).toEqual([])
  expect(await rig.rows('SELECT open_for, accepted FROM imports WHERE id = ?', [row!.id])).toEqual([
    { open_for: null, accepted: 0 },
  ])
})

test('when replies of the database are lost and steps are sent twice, seeds, figures and the audit log are those of once', async () => {
  const { pool } = rig.services.database
  const getConnection = pool.getConnection.bind(pool)
  let lost = 0
  const spy = vi.spyOn(pool, 'getConnection').mockImplementation(async () => {
    const connection = await getConnection()
    const commit = connection.commit.bind(connection)
    connection.commit = async () => {
      connection.commit = commit
      await commit()
      if (lost++ % 2 === 0)
        throw Object.assign(new Error('lost'), { code: 'PROTOCOL_CONNECTION_LOST', fatal: true })
    }
    return connection
  })
  const { report, urls, spider } = await imported(
    `url\n${Array.from({ length: 700 }, (_, n) => `https://a.test/${n}\n`).join('')}https://a.test/1\nftp://a.test/\n`,
    65_536,
  )
  spy.mockRestore()
  expect(lost).toBeGreaterThan(6)
  expect(urls).toHaveLength(700)
  expect(report).toMatchObject({ rows: 702, accepted: 700, duplicates: 1, rejected: 1 })
  expect(
    await rig.rows('SELECT state, accepted, duplicates FROM imports WHERE spider_id = ?', [spider.id]),
  ).toEqual([{ state: 'finished', accepted: 700, duplicates: 1 }])
  expect(
    await rig.rows("SELECT action FROM audit_log WHERE action = 'seeds.import' AND subject = ?", [
      spider.name,
    ]),
  ).toHaveLength(1)
})
