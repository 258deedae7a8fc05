import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import type { WorkerPool } from '../cli/worker-pool'
import { Tryouts } from '../core/queue/tryouts'
import type { SpiderInput } from '../core/spider'
import type { TryoutAnswer, TryoutPage } from '../core/tryout'
import { appRouter } from '../server/api/root'
import { type Context, createCaller } from '../server/api/trpc'
import { tryoutContent } from '../server/api/tryout-page'
import type { Person } from '../server/auth'
import { ensureQueue } from '../server/services/queues'
import { askTryout, readAgain, readTryout } from '../server/services/tryouts'
import { someone } from './console-services'
import { type CrawlRig, openRig } from './crawl-rig'
import { freshName } from './services'

let rig: CrawlRig
let pool: WorkerPool
let site: Server
let origin: string
let requests: { url: string; at: number }[] = []
const me = someone('operator')

const HTML = { 'content-type': 'text/html' }
const PAGES: Record<string, (response: ServerResponse) => void> = {
  '/robots.txt': (r) => r.end('User-agent: *\nDisallow: /secret\n'),
  '/moved': (r) => r.writeHead(301, { location: '/page' }).end(),
  '/page': (r) =>
    r
      .writeHead(200, { ...HTML, 'x-served-by': 'the test' })
      .end(
        Buffer.from(
          '<meta charset=gbk><title>\xd6\xd0\xce\xc4</title><h1>Lamp</h1><b class=price>12.50</b>' +
            '<a href=/a>a</a><a href=/secret>s</a><a rel=nofollow href=/n>n</a><a href=/x?sort=1>x</a><a href=http://other.example/>o</a>',
          'latin1',
        ),
      ),
  '/secret': (r) => r.writeHead(200, HTML).end('no'),
  '/slow': (r) => r.writeHead(200, HTML).write('<p>and then nothing'),
  '/hang': () => {},
  '/big': (r) => r.writeHead(200, HTML).end(`<h1>big</h1>${'<p>long page</p>'.repeat(260_000)}`),
  '/hostile': (r) =>
    r
      .writeHead(200, HTML)
      .end(
        `<script>parent.document.title='taken'</script><title>${'x'.repeat(1000)}</title>${'<p>'.repeat(60_000)}${'<a href="/l?'.repeat(20_000)}">`,
      ),
}

const shop: SpiderInput = {
  name: 'shop',
  allowPrivate: true,
  follow: { deny: ['sort='] },
  items: [{ name: 'product', fields: { name: { css: 'h1' }, price: { css: '.price', type: 'number' } } }],
}

/** What these procedures know of their request; nobody signs in here. */
const requestOf = (person: Person) =>
  ({ services: rig.services, person, requestId: 'test' }) as unknown as Context

beforeAll(async () => {
  site = createServer((request, response) => {
    requests.push({ url: request.url!, at: performance.now() })
    const page = PAGES[request.url!]
    if (page) page(response)
    else response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
  rig = await openRig()
  pool = rig.workers(1)
  await vi.waitFor(
    async () => {
      const [rows] = await rig.services.database.pool.query("SELECT id FROM workers WHERE state = 'running'")
      expect(rows).toHaveLength(1)
    },
    { timeout: 20_000, interval: 100 },
  )
})
afterAll(async () => {
  await rig.close()
  site.closeAllConnections()
  site.close()
})
afterEach(() => {
  requests = []
})

async function answerTo(
  url: string,
  definition: SpiderInput = shop,
  queue = rig.queue,
): Promise<TryoutAnswer> {
  const { id } = await askTryout(rig.services, { queue, url, definition }, me)
  return answered(id, queue)
}

async function answered(id: string, queue = rig.queue): Promise<TryoutAnswer> {
  for (;;) {
    const found = await readTryout(rig.services, { queue, id }, me)
    if (found.state === 'done') return found.answer
    if (found.state === 'lost' || found.state === 'unknown') throw new Error(found.state)
    await sleep(30)
  }
}

async function pageAt(path: string, definition: SpiderInput = shop): Promise<TryoutPage> {
  const answer = await answerTo(origin + path, definition)
  if (answer.kind !== 'page') throw new Error(answer.kind)
  return answer.page
}

test('a worker fetches the URL and tells redirects, headers, charset, robots, times, items, and of each link whether it is followed', async () => {
  const page = await pageAt('/moved')
  expect(page).toMatchObject({
    finalUrl: `${origin}/page`,
    hops: [{ url: `${origin}/moved`, status: 301 }],
    status: 200,
    headers: { 'x-served-by': 'the test' },
    outcome: { state: 'done', reason: null },
    robots: { allowed: true, obeyed: true },
    charset: { name: 'gbk', source: 'page' },
    reading: {
      title: '中文',
      items: [{ name: 'product', data: { name: 'Lamp', price: 12.5 } }],
      itemCount: 1,
    },
  })
  expect(page.times.connect).not.toBeNull()
  expect(page.times.firstByte).not.toBeNull()
  expect(
    Object.fromEntries(page.reading!.links.map(({ url, verdict }) => [url.replace(origin, ''), verdict])),
  ).toEqual({
    '/a': 'followed',
    '/secret': 'robots',
    '/n': 'nofollow',
    '/x?sort=1': 'deny',
    'http://other.example/': 'scope',
  })
  expect(requests.map(({ url }) => url)).toEqual(['/robots.txt', '/moved', '/page'])
})

test('with other selectors the kept page is read again within a second, and nothing is fetched', async () => {
  const { id } = await askTryout(
    rig.services,
    { queue: rig.queue, url: `${origin}/page`, definition: shop },
    me,
  )
  await answered(id)
  requests = []
  const other = { ...shop, items: [{ name: 'link', each: 'a', fields: { to: { type: 'url' as const } } }] }
  const started = performance.now()
  const again = await readAgain(rig.services, { queue: rig.queue, id, definition: other }, me)
  expect(performance.now() - started).toBeLessThan(1000)
  expect(again).toMatchObject({ state: 'done', answer: { kind: 'reading', reading: { itemCount: 5 } } })
  if (again.state !== 'done' || again.answer.kind !== 'reading') throw new Error('unreachable')
  expect(again.answer.reading.links.map(({ verdict }) => verdict)).toContain('robots')
  expect(requests).toEqual([])
})

test('what robots.txt forbids is not fetched, and the line that says so is told', async () => {
  const page = await pageAt('/secret')
  expect(page.outcome).toMatchObject({ state: 'ignored', reason: 'robots' })
  expect(page.robots.line).toEqual({ number: 2, text: 'Disallow: /secret' })
  expect(requests.filter(({ url }) => url === '/secret')).toEqual([])
})

test('a private address is refused by the worker as in any crawl', async () => {
  const page = await pageAt('/page', { ...shop, allowPrivate: false })
  expect(page.outcome).toMatchObject({ state: 'ignored', reason: 'private_address' })
  expect(requests).toEqual([])
})

test('a page that never ends, and one that never begins, end with the time limit and its reason', async () => {
  const [slow, hung] = await Promise.all([pageAt('/slow'), pageAt('/hang')])
  expect([slow.outcome.reason, hung.outcome.reason].sort()).toEqual(['timeout_headers', 'timeout_idle'])
})

test('a hostile page and a big one give a bounded answer, and the worker lives on', async () => {
  const costly = { ...shop, items: [{ name: 'x', each: 'p p ~ p', fields: { t: { css: 'p ~ p ~ p' } } }] }
  const hostile = await pageAt('/hostile', costly)
  expect(hostile.outcome.state).toBe('done')
  expect(JSON.stringify(hostile).length).toBeLessThan(1_000_000)
  const big = await pageAt('/big')
  expect([big.kept, big.reading!.items[0]!.data.name]).toEqual([4_000_000, 'big'])
  expect((await pageAt('/page')).outcome.state).toBe('done')
})

test('the delay of a host holds between trials as between any fetches', async () => {
  await rig.services.queue(rig.queue).setHostRate(new URL(origin).host, 600)
  await Promise.all([pageAt('/page'), pageAt('/a')])
  const pages = requests.filter(({ url }) => url !== '/robots.txt').map(({ at }) => at)
  expect(pages[1]! - pages[0]!).toBeGreaterThan(600 * 0.67 - 20)
  await rig.services.queue(rig.queue).setHostRate(new URL(origin).host, null)
})

test('only an operator may ask, and only the one who asked may see the answer and the page, which can do nothing there', async () => {
  const at = { queue: rig.queue }
  const asOperator = createCaller(appRouter)(requestOf(me))
  const { id } = await asOperator.tryouts.ask({ ...at, url: `${origin}/page`, definition: shop as never })
  await answered(id)
  const viewer = createCaller(appRouter)(requestOf(someone('viewer')))
  await expect(viewer.tryouts.get({ ...at, id })).rejects.toThrow('operator')
  const other = requestOf({ ...me, id: 'another' })
  expect(await createCaller(appRouter)(other).tryouts.get({ ...at, id })).toEqual({ state: 'unknown' })
  await expect(tryoutContent(other, { ...at, id })).rejects.toThrow('no longer')
  await expect(tryoutContent(requestOf(someone('viewer')), { ...at, id })).rejects.toThrow('operator')
  const shown = await tryoutContent(requestOf(me), { ...at, id })
  expect(shown.headers.get('content-security-policy')).toContain('sandbox;')
  expect(shown.headers.get('content-type')).toBe('text/html; charset=gbk')
})

test('a queue that no worker serves says so at once, and more than twenty do not wait on one', async () => {
  const lonely = freshName('lonely')
  await ensureQueue(rig.services, lonely)
  await expect(answerTo(`${origin}/page`, shop, lonely)).rejects.toThrow(
    `No worker serves the queue "${lonely}"`,
  )
  const tryouts = new Tryouts(rig.services.redis, lonely)
  const ask = () => tryouts.ask('me', { kind: 'fetch', url: origin, definition: shop as never })
  for (let n = 0; n < 20; n++) await ask()
  await expect(ask()).rejects.toThrow('20 trials wait')
})

test('a trial whose worker is killed in the middle is told to be lost within seconds, and the next worker takes the next', async () => {
  const at = { queue: rig.queue }
  const { id } = await askTryout(rig.services, { ...at, url: `${origin}/hang`, definition: shop }, me)
  await vi.waitFor(() => expect(requests.map(({ url }) => url)).toContain('/hang'), { timeout: 5000 })
  process.kill(pool.pids()[0]!, 'SIGKILL')
  await vi.waitFor(
    async () => expect(await readTryout(rig.services, { ...at, id }, me)).toEqual({ state: 'lost' }),
    {
      timeout: 12_000,
      interval: 200,
    },
  )
  expect((await pageAt('/page')).outcome.state).toBe('done')
})
