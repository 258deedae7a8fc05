import pino from 'pino'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { openRedis } from '../core/redis'
import { ownRedis } from '../tests/services'
import { createFetcher } from './fetch/fetcher'
import { answer, type OracleServer, oracleServer, type Respond } from './fetch/oracle-server'
import { HostRobots } from './host-robots'
import { SharedRobots } from './shared-robots'

const log = pino({ level: 'silent' })
const fetcher = createFetcher({
  userAgent: 'Ours/1',
  connectTimeoutMs: 1000,
  readTimeoutMs: 300,
  totalTimeoutMs: 2000,
  maxRedirects: 10,
  maxBytes: 1_000_000,
})
let server: Awaited<ReturnType<typeof ownRedis>>
let redis: Awaited<ReturnType<typeof openRedis>>
const sites: OracleServer[] = []
beforeAll(async () => {
  server = await ownRedis()
  redis = await openRedis(server.url)
})
afterEach(() => Promise.all(sites.splice(0).map((site) => site.close())))
afterAll(async () => {
  redis.disconnect()
  await fetcher.close()
  await server.stop()
})
const serve = async (respond: Respond) => {
  const site = await oracleServer(respond)
  sites.push(site)
  return site
}
const worker = () => new HostRobots(fetcher, 'Ours/1', new SharedRobots(redis, 'q', log))
const ask = (hosts: HostRobots, origin: string) => hosts.of(`${origin}/x`, { allowPrivate: true })
const RULES = 'User-agent: *\nDisallow: /x\nCrawl-delay: 2\nSitemap: https://a.example/s.xml'

test('a site is asked for its robots.txt once, however many workers there are, and all read the same in it', async () => {
  const { origin, requests } = await serve((socket) => socket.write(answer(RULES)))
  for (let n = 0; n < 3; n++) {
    const one = worker()
    expect(await one.needsFetch(`${origin}/x`, { allowPrivate: true })).toBe(n === 0)
    const robots = await ask(one, origin)
    expect([robots.allows(`${origin}/x`), robots.allows(`${origin}/y`)]).toEqual([false, true])
    expect([robots.crawlDelayMs, robots.sitemaps.length]).toEqual([2000, 1])
  }
  expect(requests).toHaveLength(1)
})

test('that there is none is shared, too; that a site cannot be asked is not', async () => {
  const none = await serve((socket) => socket.write(answer('gone', {}, 404)))
  for (let n = 0; n < 2; n++) expect((await ask(worker(), none.origin)).allows(`${none.origin}/x`)).toBe(true)
  expect(none.requests).toHaveLength(1)
  const broken = await serve((socket) => socket.write(answer(RULES, {}, 503)))
  for (let n = 0; n < 2; n++) await expect(ask(worker(), broken.origin)).rejects.toThrow('answers 503')
  expect(broken.requests).toHaveLength(2)
})

test('what a worker got from another holds no longer than there', async () => {
  const { origin, requests } = await serve((socket) => socket.write(answer(RULES)))
  await new SharedRobots(redis, 'q', log).set(
    origin,
    'Ours/1',
    { status: 200, body: Buffer.from(RULES) },
    300,
  )
  const one = worker()
  await ask(one, origin)
  expect(requests).toHaveLength(0)
  await expect
    .poll(() => one.needsFetch(`${origin}/x`, { allowPrivate: true }), { timeout: 5_000 })
    .toBe(true)
})

test('what a spider of another name was answered is not taken for ours', async () => {
  const { origin, requests } = await serve((socket) => socket.write(answer(RULES)))
  await ask(worker(), origin)
  await worker().of(`${origin}/x`, { allowPrivate: true, userAgent: 'Other/1' })
  expect(requests).toHaveLength(2)
})

test('a monster is obeyed, and not put into the memory of Redis', async () => {
  const noise = Buffer.from(Array.from({ length: 250_000 }, () => Math.random() * 256)).toString('base64')
  const { origin, requests } = await serve((socket) => socket.write(answer(`${RULES}\n#${noise}`)))
  for (let n = 0; n < 2; n++) expect((await ask(worker(), origin)).allows(`${origin}/x`)).toBe(false)
  expect(requests).toHaveLength(2)
})

test('with Redis away each worker asks the site itself', async () => {
  const { origin, requests } = await serve((socket) => socket.write(answer(RULES)))
  const away = await openRedis(server.url)
  away.disconnect()
  const hosts = new HostRobots(fetcher, 'Ours/1', new SharedRobots(away, 'q', log))
  expect((await ask(hosts, origin)).allows(`${origin}/x`)).toBe(false)
  expect(requests).toHaveLength(1)
})
