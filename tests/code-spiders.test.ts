import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { auditRun } from '../server/services/audit-run'
import { type CrawlRig, openRig } from './crawl-rig'

const DETAILS = 200

let rig: CrawlRig
let folder: string
const hits = new Map<string, number>()
/** Its pages link to nothing: all that is crawled is asked for by code. */
const site = createServer((request, response) => {
  hits.set(request.url!, (hits.get(request.url!) ?? 0) + 1)
  // What code asks for may have moved.
  if (request.url === '/d/14') return void response.writeHead(302, { location: '/moved' }).end()
  response.setHeader('content-type', 'text/html')
  setTimeout(() => response.end(`<h1>${request.url}</h1>`), 20)
})
let url: string

beforeAll(async () => {
  await new Promise<void>((listening) => site.listen(0, '127.0.0.1', listening))
  url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`
  folder = await mkdtemp(join(tmpdir(), 'orbweaver-spiders-'))
  rig = await openRig({ perHost: 50 })
})
afterAll(async () => {
  await rig.close()
  site.close()
  await rm(folder, { recursive: true, force: true })
})

const CODE = `import { defineSpider } from 'orbweaver'
export default defineSpider({
  name: 'details',
  parse(page) {
    if (page.depth === 0)
      for (let n = 0; n < ${DETAILS}; n++) page.request('/d/' + n, { meta: { label: 'n' + n }, priority: n % 3 })
    else if (page.url.endsWith('/d/13')) throw new Error('thirteen')
    else page.item('detail', { heading: page.$('h1').text(), meta: page.meta })
  },
})`

test('a page waits for code that is not there yet; then no page and no note is lost, whoever is killed and whatever Redis forgets', async () => {
  const pool = rig.workers(2, { SPIDERS_DIR: folder })
  const run = await rig.run(url, { code: 'details', follow: { scope: 'none' } })
  const count = async (query: string) => {
    const [rows] = await rig.services.database.pool.query(query, [run])
    return Number(Object.values((rows as object[])[0]!)[0])
  }
  await expect.poll(() => hits.get('/') ?? 0, { timeout: 20_000 }).toBe(1)
  expect(await count('SELECT COUNT(*) FROM pages WHERE run_id = ?')).toBe(0)
  await writeFile(join(folder, 'details.ts'), CODE)

  const stored = () => count('SELECT COUNT(*) FROM pages WHERE run_id = ?')
  await expect.poll(stored, { timeout: 40_000 }).toBeGreaterThan(10)
  process.kill(pool.pids()[0]!, 'SIGKILL')
  await expect.poll(stored, { timeout: 20_000 }).toBeGreaterThan(40)
  await rig.services.database.pool.query('UPDATE queues SET created_at = created_at - INTERVAL 1 MINUTE')
  await rig.services.redis.del(await rig.services.redis.keys(`*${rig.queue}*`))

  expect(await rig.ended(run)).toMatchObject({ admitted: DETAILS + 1, done: DETAILS, failed: 1, ignored: 0 })
  const [items] = await rig.services.database.pool.query('SELECT data FROM items WHERE run_id = ?', [run])
  const found = (items as { data: string | object }[])
    .map(
      ({ data }) =>
        (typeof data === 'string' ? JSON.parse(data) : data) as { heading: string; meta: unknown },
    )
    .map((item) => (item.heading === '/moved' ? { ...item, heading: '/d/14' } : item))
    .sort((a, b) => Number(a.heading.slice(3)) - Number(b.heading.slice(3)))
  const expected = Array.from({ length: DETAILS }, (_, n) => ({
    heading: `/d/${n}`,
    meta: { label: `n${n}` },
  }))
  expect(found).toEqual(expected.filter((_, n) => n !== 13))
  const [failed] = await rig.services.database.pool.query(
    "SELECT reason, detail FROM pages WHERE run_id = ? AND state = 'failed'",
    [run],
  )
  expect(failed).toEqual([{ reason: 'code_error', detail: 'thirteen (details.ts, line 7)' }])
  expect((await auditRun(rig.services, run)).checks.filter(({ ok }) => !ok)).toEqual([])
})
