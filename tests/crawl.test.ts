import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildDist } from '../cli/build.mjs'
import { lockFolder } from '../cli/stack/lock.mjs'
import { openRedis } from '../core/redis'
import { openDatabase } from '../drizzle/database'
import { type Expected, expectedOutcome } from '../examples/demo-site/expected'
import { PRODUCTS } from '../examples/demo-site/goods'
import { type DemoServer, serveDemoSite } from '../examples/demo-site/serve'
import { freshDatabase, freshName, testRedisUrl } from './services'

let demo: DemoServer
let expected: Expected
let database: { url: string; drop(): Promise<void> }
let redis: Redis
let folder: string
let surroundings: NodeJS.ProcessEnv

beforeAll(async () => {
  const unlock = await lockFolder(`${process.cwd()}#build`, () => {})
  await buildDist(process.cwd(), () => {}).finally(unlock)
  demo = await serveDemoSite()
  expected = expectedOutcome(demo.site)
  database = await freshDatabase()
  redis = await openRedis(testRedisUrl())
  folder = await mkdtemp(join(tmpdir(), 'orbweaver-crawl-'))
  surroundings = {
    ...process.env,
    REDIS_URL: testRedisUrl(),
    DATABASE_URL: database.url,
    STATE_DIR: folder,
    // Short times, so that a lost worker's pages come back while the test watches.
    LEASE_SECONDS: '2',
    REAP_SECONDS: '0.25',
    MAX_DELIVERIES: '50',
    // The pages that always answer 500 would keep every crawl waiting for their third retry.
    RETRY_TIMES: '1',
  }
}, 120_000)

afterAll(async () => {
  await demo.close()
  redis.disconnect()
  await database.drop()
  await rm(folder, { recursive: true, force: true })
})

interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

function start(args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, ['dist/cli.js', ...args], { env: { ...surroundings, ...env } })
  const ended: Ended = { code: null, stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text) => {
    ended.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    ended.stderr += text
  })
  const end = once(child, 'close').then(([code]) => ({ ...ended, code: code as number | null }))
  return { child, end }
}

const orbweaver = (args: string[], env: Record<string, string> = {}): Promise<Ended> => start(args, env).end

const demoArguments = (file: string, workers: number) => [
  'crawl',
  demo.url,
  '--spider',
  'examples/demo.json',
  '--delay',
  '0',
  '--workers',
  String(workers),
  '--out',
  file,
  '--json',
]

/** Checks a finished crawl of the demo site against the model, page for page. */
async function expectExact(ended: Ended, file: string): Promise<void> {
  expect(ended.code, ended.stderr).toBe(0)
  const summary = JSON.parse(ended.stdout.trimEnd().split('\n').at(-1)!)
  const { admitted, done, failed, ignored, items } = expected
  expect(Object.keys(summary)).toEqual([
    'runId',
    'admitted',
    'done',
    'failed',
    'ignored',
    'pending',
    'running',
    'retry',
    'items',
    'seconds',
    'pagesPerSecond',
  ])
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n')
  const rows = lines.map(
    (line) => JSON.parse(line) as { url: string; state: string; title: string; items: Item[] },
  )
  expect(rows).toHaveLength(expected.pages.size)
  expect(Object.fromEntries(rows.map(({ url, state }) => [url, state]))).toEqual(
    Object.fromEntries(expected.pages),
  )
  expect(summary).toMatchObject({ admitted, done, failed, ignored, items, pending: 0, running: 0, retry: 0 })
  expectProducts(rows)
  const audit = await orbweaver(['audit', String(summary.runId)])
  expect(audit.code, audit.stdout + audit.stderr).toBe(0)
}

interface Item {
  name: string
  data: Record<string, unknown>
}

/** Each product once, with the values and types of the shop's stock; Chinese titles to the character. */
function expectProducts(rows: { url: string; title: string; items: Item[] }[]): void {
  const found = rows.flatMap(({ items }) => items).filter(({ name }) => name === 'product')
  const bySku = new Map(found.map(({ data }) => [data.sku, data]))
  expect(found).toHaveLength(PRODUCTS.length)
  for (const { sku, name, price, stock, rating, tags } of PRODUCTS)
    expect(bySku.get(sku)).toMatchObject({ sku, name, price, stock, rating, tags })
  const title = (path: string) => rows.find(({ url }) => url === `${demo.url}${path}`)?.title
  expect(title('zh/gbk/1')).toBe('铁观音 · Lantern & Leaf')
  expect(title('zh/big5/1')).toBe('茉莉香片 · Lantern & Leaf')
}

describe('a crawl of the demo site', () => {
  test('by one worker ends with exactly the pages, states and items of the model, and leaves no key behind', async () => {
    const file = join(folder, 'one.jsonl')
    await expectExact(await orbweaver(demoArguments(file, 1)), file)
    expect(await redis.keys('*crawl_*')).toEqual([])
  }, 90_000)

  test('by three workers, of which one is killed every second, ends with the same', async () => {
    const file = join(folder, 'killed.jsonl')
    // A slow page may be in hand at many of the kills; how often is too often is not what is asked here.
    const { child, end } = start(demoArguments(file, 3), { MAX_DELIVERIES: '50' })
    let over = false
    let kills = 0
    const killer = (async () => {
      while (!over) {
        await sleep(1000)
        const victims = workersOf(child)
        const victim = victims[kills % Math.max(1, victims.length)]
        if (victim && kills < 12) {
          process.kill(victim, 'SIGKILL')
          kills++
        }
      }
    })()
    const ended = await end
    over = true
    await killer
    expect(kills).toBeGreaterThan(3)
    await expectExact(ended, file)
  }, 120_000)

  test('that is interrupted cancels its run, ends its workers and exits with 130', async () => {
    const { child, end } = start([
      'crawl',
      demo.url,
      '--spider',
      'examples/demo.json',
      '--delay',
      '0.2',
      '--json',
    ])
    while (demo.log.at(-1) === undefined || workersOf(child).length === 0) await sleep(50)
    const hits = demo.log.length
    while (demo.log.length < hits + 3) await sleep(50)
    const workers = workersOf(child)
    for (const pid of workers)
      expect(await readFile(`/proc/${pid}/environ`, 'utf8')).toContain('UV_THREADPOOL_SIZE=16')
    child.kill('SIGINT')
    const ended = await end
    expect(ended.code, ended.stderr).toBe(130)
    for (const pid of workers) expect(() => process.kill(pid, 0)).toThrow('ESRCH')
    expect(await redis.keys('*crawl_*')).toEqual([])
  }, 60_000)
})

function workersOf(parent: ChildProcess): number[] {
  try {
    const pids = execFileSync('pgrep', ['-P', String(parent.pid), '-f', 'dist/worker.js'], {
      encoding: 'utf8',
    })
    return pids.trim().split('\n').map(Number)
  } catch {
    return []
  }
}

describe('the inbox', () => {
  test('takes plain URLs and JSON pushed by anyone, and keeps malformed entries with their reason', async () => {
    const queue = freshName('inbox')
    const env = { ...surroundings, QUEUE_KEY: queue, DOWNLOAD_DELAY: '0', ALLOW_PRIVATE: 'true' }
    const parts = ['dist/scheduler.js', 'dist/worker.js'].map((file) =>
      spawn(process.execPath, [file], { env, stdio: 'ignore' }),
    )
    const { pool, close } = openDatabase(database.url)
    try {
      const json = JSON.stringify({ url: `${demo.url}help/brewing`, priority: 5, meta: { batch: 7 } })
      await redis.rpush(
        queue,
        `${demo.url}about`,
        json,
        '{"url": "http://x.example/", "prioriy": 1}',
        'ftp://x.example/',
        '{',
      )
      const stored = async () => {
        const [rows] = await pool.query(
          "SELECT pages.url FROM pages JOIN runs ON runs.id = run_id WHERE queue = ? AND pages.state = 'done' AND depth = 0",
          [queue],
        )
        return (rows as { url: string }[]).map(({ url }) => url).sort()
      }
      await expect.poll(stored, { timeout: 30_000 }).toEqual([`${demo.url}about`, `${demo.url}help/brewing`])
      const rejected = (await redis.lrange(`${queue}:rejected`, 0, -1)).map((entry) => JSON.parse(entry))
      expect(rejected.map(({ entry }) => entry)).toEqual([
        '{"url": "http://x.example/", "prioriy": 1}',
        'ftp://x.example/',
        '{',
      ])
      expect(rejected.map(({ reason }) => reason).join('\n')).toMatch(/prioriy[\s\S]*ftp:[\s\S]*JSON/)
      expect(await redis.llen(queue)).toBe(0)
    } finally {
      await close()
      const ends = parts.map((part) => once(part, 'exit'))
      for (const part of parts) part.kill('SIGTERM')
      expect((await Promise.all(ends)).map(([code]) => code)).toEqual([0, 0])
    }
  }, 60_000)
})

describe('bad input', () => {
  const spiders: Record<string, unknown> = {
    'type.json': { name: 'x', maxPages: 'many' },
    'selector.json': { name: 'x', items: [{ name: 'a', fields: { b: { css: 'div[' } } }] },
    'regex.json': { name: 'x', follow: { allow: ['(?<=a)b'] } },
    'unknown.json': { name: 'x', folow: {} },
  }
  beforeAll(async () => {
    for (const [file, spider] of Object.entries(spiders))
      await writeFile(join(folder, file), JSON.stringify(spider))
    await writeFile(join(folder, 'broken.json'), '{"name": ')
  })
  const at = (file: string) => join(folder, file)

  /** Title, arguments, exit code, what the sentence must name. */
  const refused: [string, () => string[], RegExp][] = [
    ['an unknown command', () => ['craw'], /'craw'/],
    ['an unknown flag', () => ['crawl', demo.url, '--pages', '3'], /--pages/],
    ['nowhere to begin', () => ['crawl'], /give a URL/],
    ['a scheme that is not HTTP', () => ['crawl', 'ftp://example.com/'], /ftp:.*http/],
    ['what is no URL', () => ['crawl', 'example com'], /example com/],
    [
      'a private address without leave',
      () => ['crawl', 'http://127.0.0.1:1/'],
      /127\.0\.0\.1.*--allow-private/,
    ],
    ['a private IPv6 address', () => ['crawl', 'http://[::1]/'], /--allow-private/],
    ['the name of this machine', () => ['crawl', 'http://localhost/'], /--allow-private/],
    ['a number that is none', () => ['crawl', demo.url, '--workers', 'two'], /--workers.*"two"/],
    ['a number out of range', () => ['crawl', demo.url, '--max-pages', '0'], /--max-pages.*from 1/],
    ['a negative delay', () => ['crawl', demo.url, '--delay', '-1'], /--delay/],
    ['a spider file that is not there', () => ['crawl', demo.url, '--spider', at('none.json')], /none\.json/],
    [
      'a spider file that is not JSON',
      () => ['crawl', demo.url, '--spider', at('broken.json')],
      /broken\.json/,
    ],
    [
      'a wrong type in a spider file',
      () => ['crawl', demo.url, '--spider', at('type.json')],
      /maxPages.*many/,
    ],
    ['an unknown field in a spider file', () => ['crawl', demo.url, '--spider', at('unknown.json')], /folow/],
    ['an invalid selector', () => ['crawl', demo.url, '--spider', at('selector.json')], /div\[/],
    ['an invalid pattern', () => ['crawl', demo.url, '--spider', at('regex.json')], /RE2/],
    [
      'an unknown output format',
      () => ['crawl', demo.url, '--allow-private', '--out', at('x.xml')],
      /\.jsonl or \.csv/,
    ],
    [
      'an output folder that is not there',
      () => ['crawl', demo.url, '--allow-private', '--out', at('no/x.csv')],
      /make the folder/,
    ],
    ['seeds without a spider', () => ['seeds', 'import', at('type.json')], /--spider/],
    ['a seed file that is not there', () => ['seeds', 'import', at('no.csv'), '--spider', 'x'], /no\.csv/],
    ['a run that is no number', () => ['audit', 'last'], /"last"/],
    ['neither a URL nor a file', () => ['enqueue', at('no.txt')], /no\.txt/],
  ]
  test.each(refused)(
    '%s is refused with one sentence and exit 2, before anything starts',
    async (_, args, names) => {
      const before = await traces()
      const ended = await orbweaver(args())
      expect(ended).toMatchObject({ code: 2, stdout: '' })
      expect(ended.stderr.trimEnd()).toMatch(names)
      expect(ended.stderr.trimEnd()).not.toContain('\n')
      expect(await traces()).toEqual(before)
    },
  )

  async function traces() {
    // Other tests share the server: only what a crawl of this command would leave counts.
    return { files: await readdir(folder), keys: (await redis.keys('*{crawl_*')).toSorted() }
  }

  test('a host that nobody answers for ends with exit 1 and the reason', async () => {
    const ended = await orbweaver(['crawl', 'http://127.0.0.1:9/', '--allow-private', '--json'], {
      RETRY_TIMES: '0',
    })
    expect(ended.code).toBe(1)
    expect(ended.stderr).toMatch(/No page could be fetched: http:\/\/127\.0\.0\.1:9\/ .*connect/)
    expect(JSON.parse(ended.stdout)).toMatchObject({ admitted: 1, done: 0, failed: 1 })
  })

  test('a Redis or a database that does not answer ends with exit 1, its address and the remedy', async () => {
    const args = ['crawl', demo.url, '--allow-private']
    const noRedis = await orbweaver(args, { REDIS_URL: 'redis://:secret@127.0.0.1:9/0' })
    expect(noRedis).toMatchObject({ code: 1, stdout: '' })
    expect(noRedis.stderr).toMatch(/Redis at redis:\/\/:\*\*\*@127\.0\.0\.1:9/)
    const noDatabase = await orbweaver(args, { DATABASE_URL: 'mysql://me:secret@127.0.0.1:9/x' })
    expect(noDatabase).toMatchObject({ code: 1, stdout: '' })
    expect(noDatabase.stderr).toMatch(/database at mysql:\/\/me:\*\*\*@127\.0\.0\.1:9/)
    expect(noRedis.stderr + noDatabase.stderr).not.toContain('secret')
  })
})
