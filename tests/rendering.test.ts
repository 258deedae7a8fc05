import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { buildDist } from '../cli/build.mjs'
import { type WorkerProcesses, workerProcesses } from '../cli/process-driver'
import { findChromium } from '../cli/stack/chromium'
import { type Guardian, startGuardian } from '../cli/stack/guardian'
import { lockFolder } from '../cli/stack/lock.mjs'
import { setEnv } from '../core/env'
import type { SpiderInput } from '../core/spider'
import { auditRun } from '../server/services/audit-run'
import { askTryout, readTryout } from '../server/services/tryouts'
import { someone } from './console-services'
import { type CrawlRig, openRig } from './crawl-rig'

/** A site whose pages are made by their scripts: page n of a tree of 12 links to 3n+1 … 3n+3. */
const PAGES = 12
const hits = new Map<string, number>()
/** What the script of /versioned asks for, while its document stays the same. */
let version = 1
const conditions: (string | undefined)[] = []
const others: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
  '/versioned': (request, response) => {
    conditions.push(request.headers['if-none-match'])
    response
      .writeHead(200, { 'content-type': 'text/html', etag: '"document"' })
      .end(
        '<h1>empty</h1><script>fetch("/version").then((r) => r.text()).then((v) => { document.querySelector("h1").textContent = "version " + v })</script>',
      )
  },
  '/version': (_, response) => void response.end(String(version)),
  '/sitemap.xml.gz': (_, response) =>
    void response
      .writeHead(200, { 'content-type': 'application/gzip' })
      .end(
        gzipSync(
          `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${[10, 11].map((n) => `<url><loc>${address}/listed/${n}</loc></url>`).join('')}</urlset>`,
        ),
      ),
}
const site = createServer((request, response) => {
  if (others[request.url!]) return others[request.url!]!(request, response)
  const [, tree, n] = /^\/(\w+)\/(\d+)$/.exec(request.url!) ?? []
  if (tree === undefined || Number(n) >= PAGES) return void response.writeHead(404).end()
  hits.set(request.url!, (hits.get(request.url!) ?? 0) + 1)
  const links = [1, 2, 3].map((k) => 3 * Number(n) + k).filter((m) => m < PAGES)
  const hog =
    tree === 'poisoned' && n === '5' ? 'const all = []; for (;;) all.push(new Array(1e6).fill(0.5))' : ''
  response.writeHead(200, { 'content-type': 'text/html' }).end(`<title>empty</title><body><script>${hog}
    setTimeout(() => { document.title = 'page ${n}'; document.body.innerHTML = '<h1>made ${n}</h1>' + ${JSON.stringify(links)}.map((m) => '<a href="/${tree}/' + m + '">x</a>').join('') }, 200)
  </script>`) // prettier-ignore
})
const urls = (tree: string) => Array.from({ length: PAGES }, (_, n) => `${address}/${tree}/${n}`)

const chromium = await findChromium()
let address: string
let rig: CrawlRig
let folder: string
let guardian: Guardian
let workers: WorkerProcesses

const heading = { name: 'page', fields: { heading: { css: 'h1', required: true } } }
const spider: Partial<SpiderInput> = { items: [heading], render: { selector: 'h1' } }

describe.skipIf(!chromium.path)('workers with Chromium on a queue of their own', () => {
  beforeAll(async () => {
    const unlock = await lockFolder(`${process.cwd()}#build`, () => {})
    await buildDist(process.cwd(), () => {}).finally(unlock)
    site.listen(0, '127.0.0.1')
    await once(site, 'listening')
    address = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
    rig = await openRig({ kind: 'render' })
    folder = await mkdtemp(join(tmpdir(), 'orbweaver-render-'))
    setEnv({ LEASE_SECONDS: '5', RENDER_TIMEOUT: '60', MAX_DELIVERIES: '3', LOG_LEVEL: 'warn' })
    setEnv({ SPIDERS_DIR: folder })
    guardian = startGuardian()
    workers = workerProcesses({ logFolder: folder, drainSeconds: 5, guardian, ended: () => {} })
    await workers.scale(rig.queue, 'render', 1)
  }, 120_000)
  afterAll(async () => {
    await workers?.stop()
    guardian?.close()
    await rig?.close()
    site.closeAllConnections()
    site.close()
    if (folder) await rm(folder, { recursive: true, force: true })
  })

  const items = async (run: number) => {
    const [rows] = await rig.services.database.pool.query(
      'SELECT data FROM items WHERE run_id = ? ORDER BY url_hash',
      [run],
    )
    return (rows as { data: string }[]).map(({ data }) => JSON.parse(data).heading as string)
  }
  const headings = Array.from({ length: PAGES }, (_, n) => `made ${n}`).toSorted()
  const sound = async (run: number) =>
    expect((await auditRun(rig.services, run)).checks.filter((check) => !check.ok)).toEqual([])
  const browserPid = async () => {
    const [worker] = workers.pids(rig.queue, 'render')
    const text = await readFile(`/proc/${worker}/task/${worker}/children`, 'utf8').catch(() => '')
    for (const pid of text.trim().split(' '))
      if ((await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).includes('remote-debugging'))
        return Number(pid)
    return undefined
  }

  test('pages that only scripts make are crawled by their links, extracted, and counted exactly', async () => {
    const run = await rig.run(`${address}/calm/0`, spider)
    await rig.ended(run)
    expect([...(await rig.stored(run))].toSorted()).toEqual(
      urls('calm')
        .map((url) => [url, 'done'])
        .toSorted(),
    )
    expect((await items(run)).toSorted()).toEqual(headings)
    expect([...hits].filter(([url, times]) => url.startsWith('/calm/') && times > 1)).toEqual([])
    await sound(run)
  }, 200_000)

  test('code is given pages as their scripts have made them, and a packed sitemap is read without a browser', async () => {
    await writeFile(
      join(folder, 'shout.ts'),
      `import { defineSpider } from 'orbweaver'
      export default defineSpider({ name: 'shout', parse: (page) => page.item('page', { heading: page.$('h1').text() + '!' }) })`,
    )
    const run = await rig.run(`${address}/sitemap.xml.gz`, {
      ...{ code: 'shout', sitemaps: 'auto', render: spider.render!, follow: { scope: 'none' } },
    })
    await rig.ended(run)
    expect((await items(run)).toSorted()).toEqual(['made 10!', 'made 11!'])
    await sound(run)
  }, 200_000)

  test('a page whose scripts make other things of the same document has changed, and one that they make the same of has not', async () => {
    const again = async () => {
      const run = await rig.run(`${address}/versioned`, {
        ...{ ...spider, follow: { scope: 'none' }, revisit: { mode: 'changed' } },
        render: { wait: 'idle' },
      })
      await rig.ended(run)
      const [rows] = await rig.services.database.pool.query('SELECT reason FROM pages WHERE run_id = ?', [
        run,
      ])
      return [(rows as { reason: string | null }[])[0]?.reason, ...(await items(run))]
    }
    expect(await again()).toEqual([null, 'version 1'])
    version = 2
    expect(await again()).toEqual([null, 'version 2'])
    expect(await again()).toEqual(['unchanged'])
    expect(conditions).toEqual([undefined, undefined, undefined])
  }, 200_000)

  test('a trial shows what a browser makes of the page', async () => {
    const me = someone('operator')
    const asked = { queue: rig.queue, url: `${address}/tried/2` }
    const definition = { name: 'tried', allowPrivate: true, ...spider }
    const { id } = await askTryout(rig.services, { ...asked, definition }, me)
    const found = await vi.waitUntil(
      async () => {
        const state = await readTryout(rig.services, { queue: rig.queue, id }, me)
        return state.state === 'done' && state.answer
      },
      { timeout: 90_000, interval: 200 },
    )
    expect(found).toMatchObject({
      kind: 'page',
      page: { status: 200, reading: { title: 'page 2', items: [{ data: { heading: 'made 2' } }] } },
    })
  }, 200_000)

  test('a browser that is killed in the middle of pages costs none of them', async () => {
    const run = await rig.run(`${address}/killed/0`, spider)
    for (const seen of [3, 7]) {
      await vi.waitUntil(() => [...hits.keys()].filter((url) => url.startsWith('/killed/')).length > seen, {
        timeout: 60_000,
      })
      process.kill(await vi.waitUntil(browserPid, { timeout: 60_000, interval: 100 }), 'SIGKILL')
    }
    await rig.ended(run)
    expect([...(await rig.stored(run))].toSorted()).toEqual(
      urls('killed')
        .map((url) => [url, 'done'])
        .toSorted(),
    )
    expect((await items(run)).toSorted()).toEqual(headings)
    await sound(run)
  }, 200_000)

  test('a page that takes its process down each time fails once its deliveries are used up, and takes no other with it', async () => {
    const run = await rig.run(`${address}/poisoned/0`, spider)
    await rig.ended(run)
    const stored = await rig.stored(run)
    expect([...stored].filter(([, state]) => state !== 'done')).toEqual([[`${address}/poisoned/5`, 'failed']])
    expect([...stored.keys()].toSorted()).toEqual(urls('poisoned').toSorted())
    const [rows] = await rig.services.database.pool.query(
      "SELECT reason FROM pages WHERE run_id = ? AND state = 'failed'",
      [run],
    )
    expect(rows).toEqual([{ reason: 'worker_lost' }])
    expect(hits.get('/poisoned/5')).toBe(3)
    await sound(run)
  }, 200_000)
})
