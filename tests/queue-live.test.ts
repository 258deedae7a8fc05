import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { readHost } from '../core/queue/hosts'
import { configureQueue, pauseQueue, resumeQueue } from '../server/services/queues'
import { createRun } from '../server/services/runs'
import { saveSpider } from '../server/services/spiders'
import { whyWaiting } from '../server/services/why'
import { type CrawlRig, openRig } from './crawl-rig'

/** How long a change of settings may take to reach a worker. */
const SOON = { timeout: 2_000, interval: 20 }

let rig: CrawlRig
let site: Server
/** Requests for pages that wait for an answer. */
let waiting: ServerResponse[]
/** The paths of pages that were asked for, in that order. */
let asked: string[]

beforeEach(async () => {
  waiting = []
  asked = []
  site = createServer((request, response) => {
    if (request.url === '/robots.txt') return response.writeHead(404).end()
    asked.push(request.url!)
    waiting.push(response)
  }).listen(0, '127.0.0.1')
  await once(site, 'listening')
})
afterEach(async () => {
  site.closeAllConnections()
  site.close()
  await rig.close()
})

const answer = (many: number) => {
  for (const response of waiting.splice(0, many))
    response.writeHead(200, { 'content-type': 'text/html' }).end('<title>x</title>')
}

test('a change of a queue’s settings reaches a worker within 2 s, also one whose slots are all busy', async () => {
  rig = await openRig({ perHost: 100 })
  const { services, queue } = rig
  const set = (concurrency: number) => configureQueue(services, queue, { concurrency }, 'me')
  await set(1)
  const spider = await saveSpider(
    services,
    { name: 'held', allowPrivate: true, follow: { scope: 'none' } },
    'test',
  )
  const { port } = site.address() as AddressInfo
  const seeds = Array.from({ length: 60 }, (_, n) => ({ url: `http://127.0.0.1:${port}/${n}` }))
  const { id: run } = await createRun(services, { spider: spider.id, queue, seeds, trigger: 'manual' })
  rig.workers(1, { READ_TIMEOUT: '60', DOWNLOAD_TIMEOUT: '60', LEASE_SECONDS: '30' })
  await vi.waitFor(() => expect(waiting).toHaveLength(1), { timeout: 20_000, interval: 50 })

  await set(6)
  await vi.waitFor(() => expect(waiting).toHaveLength(6), SOON)

  await pauseQueue(services, queue, 'me')
  // What was claimed and not begun goes back; what is under way ends, and nothing more is begun.
  await vi.waitFor(async () => expect((await services.queue(queue).counts(run)).running).toBe(6), SOON)
  answer(6)
  await vi.waitFor(async () => expect((await services.queue(queue).counts(run)).done).toBe(6), SOON)
  expect(asked).toHaveLength(6)

  await set(3)
  await resumeQueue(services, queue, 'me')
  await vi.waitFor(() => expect(waiting).toHaveLength(3), SOON)
  expect((await services.queue(queue).counts(run)).pending).toBeGreaterThan(40)
  expect(asked).toHaveLength(9)

  const utc = (fromNow: number) => new Date(Date.now() + fromNow * 60_000).toISOString().slice(11, 16)
  await configureQueue(services, queue, { quiet: { from: utc(-2), to: utc(30), zone: 'UTC' } }, 'me')
  await vi.waitFor(async () => expect((await services.queue(queue).counts(run)).running).toBe(3), SOON)
  // Seeds are not asked for in their order, and what was claimed and went back is asked for when its turn comes.
  const { url } = seeds.find((seed) => !asked.includes(new URL(seed.url).pathname))!
  const { causes } = await whyWaiting(services, { queue, url })
  expect(causes[0]).toMatchObject({ kind: 'quiet', zone: 'UTC' })
  answer(3)
  await vi.waitFor(async () => expect((await services.queue(queue).counts(run)).done).toBe(9), SOON)
  expect(asked).toHaveLength(9)
  await configureQueue(services, queue, { quiet: null }, 'me')
  await vi.waitFor(() => expect(waiting).toHaveLength(3), SOON)
}, 60_000)

test('a site that answers 429 is asked less often from then on, by all workers, and the pages come in all the same', async () => {
  rig = await openRig({ perHost: 8 })
  const { services, queue } = rig
  site.removeAllListeners('request')
  let refused = 0
  const times: number[] = []
  site.on('request', (request, response) => {
    if (request.url === '/robots.txt') return response.writeHead(404).end()
    times.push(performance.now())
    if (refused++ < 3) return response.writeHead(429, { 'retry-after': '1' }).end()
    response.writeHead(200, { 'content-type': 'text/html' }).end('<title>x</title>')
  })
  const spider = await saveSpider(
    services,
    { name: 'asked', allowPrivate: true, robots: 'ignore', follow: { scope: 'none' } },
    'test',
  )
  const { port } = site.address() as AddressInfo
  const seeds = Array.from({ length: 8 }, (_, n) => ({ url: `http://127.0.0.1:${port}/${n}` }))
  const { id: run } = await createRun(services, { spider: spider.id, queue, seeds, trigger: 'manual' })
  rig.workers(2)
  await vi.waitFor(async () => expect((await services.queue(queue).counts(run)).retry).toBeGreaterThan(0), {
    timeout: 20_000,
  })
  const { paceMs } = await readHost(services.queue(queue), `127.0.0.1:${port}`)
  expect(paceMs).toBeGreaterThan(100)
  await vi.waitFor(async () => expect((await services.queue(queue).counts(run)).done).toBe(8), {
    timeout: 30_000,
  })
  const after = times.slice(8)
  for (const [n, at] of after.slice(1).entries()) expect(at - after[n]!).toBeGreaterThan(50)
}, 60_000)

test('two hosts at one address are asked as one server where the queue says so, and no page is lost by it', async () => {
  rig = await openRig({ perHost: 8 })
  const { services, queue } = rig
  await configureQueue(services, queue, { addressDelayMs: 1000 }, 'me')
  site.removeAllListeners('request')
  const times: number[] = []
  site.on('request', (_, response) => {
    times.push(performance.now())
    response.writeHead(200, { 'content-type': 'text/html' }).end('<title>x</title>')
  })
  const spider = await saveSpider(
    services,
    { name: 'addressed', allowPrivate: true, robots: 'ignore', follow: { scope: 'none' } },
    'test',
  )
  const { port } = site.address() as AddressInfo
  const seeds = ['127.0.0.1', '[::ffff:127.0.0.1]'].flatMap((host) =>
    [1, 2, 3].map((n) => ({ url: `http://${host}:${port}/${n}` })),
  )
  const { id: run } = await createRun(services, { spider: spider.id, queue, seeds, trigger: 'manual' })
  rig.workers(1)
  await vi.waitFor(async () => expect((await services.queue(queue).counts(run)).done).toBe(6), {
    timeout: 30_000,
  })
  expect(times).toHaveLength(6)
  // Five turns of a second from the first to the last, and two were the hosts apart; how soon after its turn a page is asked for
  // is the machine's.
  expect(times.at(-1)! - times[0]!).toBeGreaterThan(3_500)
}, 60_000)
