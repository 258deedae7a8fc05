import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { WorkerPool } from '../cli/worker-pool'
import type { SpiderInput } from '../core/spider'
import { auditRun } from '../server/services/audit-run'
import { type CrawlRig, openRig } from './crawl-rig'

let rig: CrawlRig
let pool: WorkerPool
beforeAll(async () => {
  rig = await openRig()
  pool = rig.workers(2)
})
afterAll(() => rig.close())

interface Page {
  body: string
  /** How the server tells versions apart. */
  by: 'etag' | 'weak' | 'date' | 'nothing'
  version: number
  gone?: 404 | 410
}

let server: Server | undefined
let origin = ''
let pages: Record<string, Page> = {}
/** Requests since the last look, robots.txt apart: path and how it was asked for and answered. */
let asked: { path: string; conditional: boolean; status: number }[] = []
/** Called with each request. */
let onAsked = () => {}

async function serve(site: Record<string, Page>): Promise<void> {
  pages = site
  asked = []
  server = createServer((request, response) => {
    const path = request.url!
    if (path === '/robots.txt') return void response.writeHead(404).end()
    const page = pages[path]
    const { 'if-none-match': match, 'if-modified-since': since } = request.headers
    const conditional = Boolean(match ?? since)
    const answer = (status: number, headers: Record<string, string> = {}, body = '') => {
      asked.push({ path, conditional, status })
      onAsked()
      response.writeHead(status, {
        'content-type': path.endsWith('.xml') ? 'text/xml' : 'text/html',
        ...headers,
      })
      response.end(body)
    }
    if (!page || page.gone) return answer(page?.gone ?? 404)
    const etag = `${page.by === 'weak' ? 'W/' : ''}"v${page.version}"`
    const date = new Date(Date.UTC(2026, 0, 1 + page.version)).toUTCString()
    const headers: Record<string, string> =
      page.by === 'date' ? { 'last-modified': date } : page.by === 'nothing' ? {} : { etag }
    if ((headers.etag && match === etag) || (headers['last-modified'] && since === date))
      return answer(304, headers)
    answer(200, headers, page.body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
afterEach(async () => {
  onAsked = () => {}
  server?.closeAllConnections()
  await new Promise((closed) => server?.close(closed))
})

const html = (title: string, links: string[] = []) =>
  `<title>${title}</title><p>${title} says this</p>${links.map((to) => `<a href="${to}">${to}</a>`).join('')}`

/** `/` leads to a hub for each kind of page, a hub to ten pages of the kind. */
function site(): Record<string, Page> {
  const kinds = ['etag', 'weak', 'date', 'nothing'] as const
  const page = (by: Page['by'], body: string): Page => ({ by, version: 1, body })
  const leaves = (by: Page['by']) => Array.from({ length: 10 }, (_, n) => `/${by}/${n}`)
  return Object.fromEntries([
    [
      '/',
      page(
        'etag',
        html(
          'home',
          kinds.map((by) => `/${by}`),
        ),
      ),
    ],
    ...kinds.map((by) => [`/${by}`, page(by, html(by, leaves(by)))]),
    ...kinds.flatMap((by) => leaves(by).map((path) => [path, page(by, html(path))])),
  ])
}
const WHOLE = 45

function change(path: string, honest = true): void {
  const page = pages[path]!
  page.body = page.body.replaceAll('says this', `says that ${page.version}`)
  if (honest) page.version++
}

const again: Partial<SpiderInput> = { revisit: { mode: 'changed' } }

interface Row {
  url: string
  state: string
  reason: string | null
  items: number
  content_run: number | null
}

async function crawl(
  spider: Partial<SpiderInput>,
  path = '/',
): Promise<{ run: number; rows: Map<string, Row> }> {
  asked = []
  const run = await rig.run(origin + path, spider)
  expect((await rig.ended(run, 20_000)).state).toBe('finished')
  return { run, rows: await rowsOf(run) }
}

async function rowsOf(run: number): Promise<Map<string, Row>> {
  const [rows] = await rig.services.database.pool.query(
    'SELECT url, state, reason, items, content_run FROM pages WHERE run_id = ?',
    [run],
  )
  return new Map((rows as Row[]).map((row) => [row.url.slice(origin.length), row]))
}

const those = (rows: Map<string, Row>, reason: string) =>
  [...rows]
    .filter(([, row]) => row.reason === reason)
    .map(([path]) => path)
    .sort()

/** Every page that is there has its item once: in this run, or in the one that its row names. */
async function expectItems(run: number, rows: Map<string, Row>): Promise<void> {
  const [found] = await rig.services.database.pool.query(
    'SELECT p.url, COUNT(i.n) AS n FROM pages p LEFT JOIN items i ON i.run_id = COALESCE(p.content_run, p.run_id) AND i.url_hash = p.url_hash WHERE p.run_id = ? GROUP BY p.url',
    [run],
  )
  const counts = new Map(
    (found as { url: string; n: number }[]).map(({ url, n }) => [url.slice(origin.length), n]),
  )
  const wrong = [...rows].filter(([path, row]) => counts.get(path) !== (row.state === 'done' ? 1 : 0))
  expect(wrong).toEqual([])
  const { checks } = await auditRun(rig.services, run)
  expect(checks.filter(({ ok }) => !ok)).toEqual([])
}

test('the next run asks by ETag or date, takes anew exactly what changed, follows what it knows, and sees what is gone', async () => {
  await serve(site())
  const first = await crawl(again)
  expect(first.rows.size).toBe(WHOLE)
  expect(asked.some(({ conditional }) => conditional)).toBe(false)
  await expectItems(first.run, first.rows)

  const changed = ['/date/1', '/etag/1', '/nothing/1', '/weak/1']
  for (const path of changed) change(path)
  pages['/etag/2']!.gone = 404
  pages['/nothing/2']!.gone = 410
  const second = await crawl(again)
  expect(second.rows.size).toBe(WHOLE)
  expect(those(second.rows, 'gone')).toEqual(['/etag/2', '/nothing/2'])
  expect(
    [...second.rows]
      .filter(([, row]) => row.reason === null)
      .map(([path]) => path)
      .sort(),
  ).toEqual(changed)
  expect(those(second.rows, 'unchanged')).toHaveLength(WHOLE - 6)
  // Eleven pages have nothing to be asked by.
  expect(asked.filter(({ conditional }) => conditional)).toHaveLength(WHOLE - 11)
  expect(asked.filter(({ status }) => status === 304)).toHaveLength(WHOLE - 11 - 4)
  expect(asked).toHaveLength(WHOLE)
  await expectItems(second.run, second.rows)
  expect((await rig.ended(second.run)).items).toBe(4)

  delete pages['/etag/2']!.gone
  const third = await crawl(again)
  // What is gone is told once; what comes back is taken anew.
  expect(those(third.rows, 'gone')).toEqual([])
  expect(third.rows.get('/nothing/2')).toMatchObject({ state: 'ignored', reason: 'http_410' })
  expect(third.rows.get('/etag/2')).toMatchObject({ state: 'done', reason: null, items: 1 })
  expect(third.rows.get('/etag/1')).toMatchObject({ reason: 'unchanged', content_run: second.run })
  await expectItems(third.run, third.rows)
})

test('a server whose ETag stays while the page changes is found out when its pages come whole, and asked without from then on', async () => {
  await serve(site())
  const spider: Partial<SpiderInput> = { revisit: { mode: 'changed', verify: 1 } }
  await crawl(spider)
  change('/etag/3', false)
  change('/date/3', false)
  const taken = await crawl(spider)
  expect(taken.rows.get('/etag/3')).toMatchObject({ reason: 'unchanged' })
  const whole = await crawl(spider)
  expect(asked.some(({ conditional }) => conditional)).toBe(false)
  expect(
    [...whole.rows]
      .filter(([, row]) => row.reason === null)
      .map(([path]) => path)
      .sort(),
  ).toEqual(['/date/3', '/etag/3'])
  await expectItems(whole.run, whole.rows)
  await crawl(spider)
  const whole2 = new Map(asked.map((one) => [one.path, one.conditional]))
  expect(['/etag/3', '/date/3', '/etag/4', '/date/4'].map((path) => whole2.get(path))).toEqual([
    false,
    false,
    true,
    true,
  ])
})

test('other rules of extraction make every page come whole and its items anew', async () => {
  await serve(site())
  await crawl(again)
  const { run, rows } = await crawl({ ...again, items: [{ name: 'head', fields: { text: { css: 'p' } } }] })
  expect(asked.some(({ conditional }) => conditional)).toBe(false)
  expect(those(rows, 'unchanged')).toEqual([])
  await expectItems(run, rows)
})

async function setDue(path: string, minutes: number): Promise<void> {
  await rig.services.database.pool.query(
    'UPDATE visits JOIN pages USING (url_hash) SET due_at = UTC_TIMESTAMP(3) + INTERVAL ? MINUTE WHERE pages.url = ?',
    [minutes, origin + path],
  )
}

async function interval(path: string): Promise<number> {
  const [rows] = await rig.services.database.pool.query(
    'SELECT DISTINCT interval_seconds FROM visits JOIN pages USING (url_hash) WHERE pages.url = ?',
    [origin + path],
  )
  return (rows as { interval_seconds: number }[])[0]!.interval_seconds
}

test('only what is due is asked for, without a turn of its host for the rest, and the interval follows how often a page changes', async () => {
  await serve(site())
  const due: Partial<SpiderInput> = { revisit: { mode: 'due', first: 10_000, min: 9_000, max: 15_000 } }
  await crawl(due)
  await setDue('/etag/4', -1)
  await setDue('/etag/5', -1)
  change('/etag/5')
  // At one page in five seconds, taking turns would last for minutes.
  const settings = { perHost: 1, concurrency: 8, maxRunning: null, paused: false }
  await rig.services.queue(rig.queue).configure({ ...settings, delayMs: 2_000 })
  const started = performance.now()
  const { run, rows } = await crawl(due)
  expect(performance.now() - started).toBeLessThan(20_000)
  await rig.services.queue(rig.queue).configure({ ...settings, perHost: 8, delayMs: 0 })
  expect(asked.map(({ path }) => path).sort()).toEqual(['/etag/4', '/etag/5'])
  expect(those(rows, 'not_due')).toHaveLength(WHOLE - 2)
  expect(rows.get('/date/9')).toMatchObject({ state: 'ignored', items: 0 })
  const { checks } = await auditRun(rig.services, run)
  expect(checks.filter(({ ok }) => !ok)).toEqual([])
  expect([await interval('/etag/4'), await interval('/etag/5'), await interval('/etag/6')]).toEqual([
    14_000, 9_000, 10_000,
  ])
})

test('a sitemap’s date makes a page due, its own page is always read, and what it dates before `since` is left out', async () => {
  await serve(site())
  const list = (dates: Record<string, string>) => ({
    by: 'etag' as const,
    version: 1,
    body: `<urlset>${Object.entries(dates)
      .map(([path, date]) => `<url><loc>${origin}${path}</loc><lastmod>${date}</lastmod></url>`)
      .join('')}</urlset>`,
  })
  pages['/map.xml'] = list({ '/etag/7': '2026-01-01', '/etag/8': '2026-01-01' })
  const only: Partial<SpiderInput> = {
    revisit: { mode: 'new' },
    sitemaps: [`${origin}/map.xml`],
    follow: { scope: 'none' },
  }
  const first = await crawl(only, '/map.xml')
  expect([...first.rows.keys()].sort()).toEqual(['/etag/7', '/etag/8', '/map.xml'])
  const later = new Date(Date.now() + 60_000).toISOString()
  pages['/map.xml'] = list({ '/etag/7': later, '/etag/8': '2026-01-01', '/etag/9': '2026-01-01' })
  const second = await crawl(only, '/map.xml')
  expect(asked.map(({ path }) => path).sort()).toEqual(['/etag/7', '/etag/9', '/map.xml'])
  expect(those(second.rows, 'not_due')).toEqual(['/etag/8'])
  const since = await crawl({ ...only, revisit: { mode: 'changed', since: '2026-06-01' } }, '/map.xml')
  expect([...since.rows.keys()].sort()).toEqual(['/etag/7', '/map.xml'])
})

test('with workers killed on the way, pages stored and not acknowledged among them, the second run still takes anew exactly what changed, once', async () => {
  const many = Object.fromEntries(
    Array.from({ length: 400 }, (_, n) => [
      `/p/${n}`,
      {
        by: n % 2 ? 'etag' : 'nothing',
        version: 1,
        body: html(
          `page ${n}`,
          [2 * n + 1, 2 * n + 2].filter((to) => to < 400).map((to) => `/p/${to}`),
        ),
      } satisfies Page,
    ]),
  )
  await serve(many)
  await crawl(again, '/p/0')
  const changed = Object.keys(many).filter((_, n) => n % 4 !== 0)
  for (const path of changed) change(path)
  asked = []
  // Beside the two, one that dies again and again with pages stored and not acknowledged.
  const dying = rig.workers(1, {
    NODE_OPTIONS: `--import=${resolve('tests/crash-at.mjs')}`,
    ORBWEAVER_CRASH_AT: 'stored:1',
  })
  await expect.poll(() => dying.pids().length, { timeout: 10_000 }).toBe(1)
  const [first] = dying.pids()
  // The two stand still until it died for the first time, or they would leave it no page.
  const still = pool.pids()
  for (const pid of still) process.kill(pid, 'SIGSTOP')
  const run = await rig.run(`${origin}/p/0`, again)
  await expect.poll(() => dying.pids(), { timeout: 20_000 }).not.toContain(first)
  for (const pid of still) process.kill(pid, 'SIGCONT')
  let kills = 0
  const next = [60, 140, 220, 300]
  onAsked = () => {
    if (asked.length < (next[0] ?? Number.POSITIVE_INFINITY)) return
    next.shift()
    const pids = pool.pids()
    process.kill(pids[kills++ % pids.length]!, 'SIGKILL')
  }
  await rig.ended(run, 50_000)
  const rows = await rowsOf(run)
  expect(rows.size).toBe(400)
  expect(
    [...rows]
      .filter(([, row]) => row.reason === null)
      .map(([path]) => path)
      .sort(),
  ).toEqual([...changed].sort())
  expect(those(rows, 'unchanged')).toHaveLength(100)
  await expectItems(run, rows)
  expect((await rig.ended(run)).items).toBe(300)
  expect(kills).toBe(4)
})
