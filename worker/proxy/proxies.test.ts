import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { setEnv } from '../../core/env'
import { openLog } from '../../core/log'
import { type ProxyRotation, proxyPlace, readProxy, shownProxy } from '../../core/proxy-address'
import { readProxyHealth } from '../../core/queue/proxy-health'
import type { Queue } from '../../core/queue/queue'
import { freshQueue, turnClock } from '../../core/queue/queue-fixture'
import { seal } from '../../core/seal'
import type { FetchFailure } from '../fetch/failure'
import { createFetcher, type Fetcher } from '../fetch/fetcher'
import { proxiedFetcher } from './proxied-fetcher'
import { httpProxy, socksProxy, type TestProxy } from './proxies-fixture'
import { NoProxy, ProxyPool } from './proxy-pool'

/** A public address: nothing is sent there, for the proxies lead to the site below. */
const PUBLIC = '93.184.216.34'

const open: { close(): unknown }[] = []
let site: number
let status = 200
let queue: Queue
const setClock = turnClock()
const names: Record<string, string> = {}
const seen: { host: string; authorization: string | undefined }[] = []

beforeAll(async () => {
  setEnv({ SECRETS_KEY: 'of-this-test-run-only-0123456789abcdef', LOG_LEVEL: 'silent' })
  const server = createServer(({ headers }, response) => {
    seen.push({ host: headers.host!, authorization: headers['proxy-authorization'] })
    response.writeHead(status, { 'content-type': 'text/html' }).end('<title>here</title>')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  site = (server.address() as AddressInfo).port
  open.push(server)
})
afterAll(async () => {
  for (const one of open) await one.close()
  queue?.redis.disconnect()
})

async function start(proxy: Promise<TestProxy>): Promise<TestProxy> {
  const started = await proxy
  open.push(started)
  return started
}

function poolOf(urls: string[], rotation: ProxyRotation = 'turn', of: Queue = queue): ProxyPool {
  const rows = urls.map((url, at) => {
    const address = readProxy(url)
    const shown = shownProxy(address)
    return { id: at + 1, shown, sealed: seal('proxies', address, proxyPlace(of.name, shown)) }
  })
  return new ProxyPool({
    queue: of,
    read: async () => rows,
    rotation: () => rotation,
    log: openLog('test'),
  })
}

function through(pool: ProxyPool): Fetcher {
  const fetcher = createFetcher({
    userAgent: 'Test/1',
    connectTimeoutMs: 2000,
    readTimeoutMs: 2000,
    totalTimeoutMs: 5000,
    maxRedirects: 5,
    maxBytes: 10_000,
    lookup: (host, _, done) => done(null, [{ address: names[host] ?? PUBLIC, family: 4 }]),
  })
  open.push(fetcher)
  return proxiedFetcher(fetcher, pool)
}

const get = (fetcher: Fetcher, url: string) =>
  fetcher.fetch(url, { allowPrivate: false, headers: {}, signal: new AbortController().signal })
const failure = (fetch: Promise<unknown>): Promise<FetchFailure> =>
  fetch.then(
    () => Promise.reject(new Error('fetched')),
    (error) => error,
  )

describe('through a proxy', () => {
  beforeAll(async () => {
    queue = await freshQueue()
  })

  test.each([
    ['http', httpProxy],
    ['socks5', socksProxy],
  ])(
    'that speaks %s, a page comes, signed in at the proxy alone, which is given an address and no name',
    async (_, kind) => {
      const proxy = await start(kind(site))
      const fetched = await get(through(poolOf([proxy.url])), 'http://shop.example:8080/a')
      expect(fetched.body.toString()).toContain('here')
      expect(proxy.asked).toEqual([`${PUBLIC}:8080`])
      expect(seen.at(-1)).toEqual({ host: 'shop.example:8080', authorization: undefined })
    },
  )

  test.each([
    ['http', httpProxy],
    ['socks5', socksProxy],
  ])('that speaks %s, no private address is reached, by name or by number', async (_, kind) => {
    const proxy = await start(kind(site))
    names['inside.example'] = '10.0.0.7'
    const fetcher = through(poolOf([proxy.url]))
    for (const url of [
      'http://inside.example/',
      'http://127.0.0.1:8080/',
      'http://[::1]/',
      'http://169.254.169.254/',
    ])
      expect((await failure(get(fetcher, url))).code).toBe('private_address')
    expect(proxy.asked).toEqual([])
  })

  test('what address a host has is not asked for, and counts for nothing', async () => {
    const proxy = await start(httpProxy(site))
    names['shared.example'] = PUBLIC
    expect(await through(poolOf([])).addressOf('shared.example')).toBe(PUBLIC)
    expect(await through(poolOf([proxy.url])).addressOf('shared.example')).toBe(null)
  })

  test('that refuses the password, or the way, the page is told to have failed for the proxy, without its secrets', async () => {
    const proxy = await start(httpProxy(site))
    const socks = await start(socksProxy(site))
    const closed = await start(httpProxy(site))
    await closed.close()
    open.splice(open.indexOf(closed), 1)
    const forbids = await start(httpProxy(site, () => 403))
    const wrong = (one: TestProxy) => one.url.replace('hush%3Ahush', 'geheim')
    for (const url of [wrong(proxy), wrong(socks), closed.url, forbids.url]) {
      const error = await failure(get(through(poolOf([url])), 'http://shop.example/'))
      expect([url, error.code]).toEqual([url, 'proxy'])
      expect(JSON.stringify([error.message, error.detail, String(error.cause)])).not.toMatch(/geheim|hush/)
    }
  })

  test('that works and does not reach the site, the site is at fault', async () => {
    const http = await start(httpProxy(site, () => 504))
    const socks = await start(socksProxy(site, 4))
    for (const { url } of [http, socks])
      expect((await failure(get(through(poolOf([url])), 'http://shop.example/'))).code).toBe('connect')
  })
})

describe('of several proxies', () => {
  let two: TestProxy[]

  beforeAll(async () => {
    two = [await start(httpProxy(site)), await start(httpProxy(site))]
  })

  test('each has its turn, or a host its own, by the queue’s choice', async () => {
    queue = await freshQueue()
    await setClock(queue, Date.now() - Date.UTC(2026, 0, 5))
    const picked = async (rotation: ProxyRotation, hosts: string[]) => {
      const pool = poolOf(
        two.map(({ url }) => url),
        rotation,
      )
      const ids = []
      for (const host of hosts) ids.push((await pool.pick(host))!.id)
      return ids
    }
    const turns = await picked('turn', ['a.example', 'a.example', 'a.example', 'a.example'])
    expect(turns.map((id) => id - turns[0]!)).toEqual([0, turns[1]! - turns[0]!, 0, turns[1]! - turns[0]!])
    expect(new Set(turns).size).toBe(2)
    const hosts = Array.from({ length: 20 }, (_, n) => `h${n}.example`)
    const first = await picked('host', hosts)
    expect(await picked('host', hosts)).toEqual(first)
    expect(new Set(first).size).toBe(2)
  })

  test('one that does not serve rests, for all workers, and the others carry on; with none left nothing goes without', async () => {
    queue = await freshQueue()
    const now = Date.now() - Date.UTC(2026, 0, 5)
    await setClock(queue, now)
    let broken = true
    const bad = await start(httpProxy(site, () => (broken ? 502 + 5 : null)))
    const urls = [bad.url, two[0]!.url]
    const [one, other] = [poolOf(urls), poolOf(urls)]
    const codes = []
    for (let n = 0; n < 8; n++)
      codes.push(
        await get(through(n % 2 ? one : other), 'http://shop.example/').then(
          () => 'ok',
          ({ code }) => code,
        ),
      )
    expect(codes.filter((code) => code === 'proxy').length).toBeLessThanOrEqual(4)
    expect((await readProxyHealth(queue)).get(1)).toMatchObject({ restsUntil: expect.any(Number) })
    const fresh = poolOf(urls)
    for (let n = 0; n < 6; n++) expect((await fresh.pick('shop.example'))!.id).toBe(2)

    const error = await failure(get(through(poolOf([bad.url])), 'http://shop.example/'))
    expect(error).toBeInstanceOf(NoProxy)
    expect((error as NoProxy).waitMs).toBeGreaterThan(5_000)
    broken = false
    await setClock(queue, now + 60_000)
    await poolOf(urls).report((await fresh.pick('shop.example'))!, 'good', 'shop.example')
  })

  test('one that a site turns away is not used for that site for ten minutes, and goes on for others', async () => {
    queue = await freshQueue()
    await setClock(queue, Date.now() - Date.UTC(2026, 0, 5))
    const pool = poolOf(
      two.map(({ url }) => url),
      'host',
    )
    const before = (await pool.pick('strict.example'))!.id
    status = 403
    await get(through(pool), 'http://strict.example/')
    status = 200
    expect((await pool.pick('strict.example'))!.id).toBe(3 - before)
    const others = new Set<number>()
    for (let n = 0; n < 20; n++) others.add((await pool.pick(`h${n}.example`))!.id)
    expect(others.size).toBe(2)
    status = 429
    await get(through(pool), 'http://strict.example/')
    status = 200
    await expect(pool.pick('strict.example')).rejects.toBeInstanceOf(NoProxy)
  })

  test('the better one is taken more often when health decides', async () => {
    queue = await freshQueue()
    await setClock(queue, Date.now() - Date.UTC(2026, 0, 5))
    const pool = poolOf(
      two.map(({ url }) => url),
      'health',
    )
    const [bad] = [(await pool.pick('x.example'))!]
    for (let n = 0; n < 6; n++) {
      await pool.report(bad, 'bad', 'x.example')
      await setClock(queue, Date.now() - Date.UTC(2026, 0, 5) - 3_600_000 * (6 - n))
    }
    await pool.report(bad, 'good', 'x.example')
    let better = 0
    for (let n = 0; n < 200; n++) if ((await pool.pick('x.example'))!.id !== bad.id) better++
    expect(better).toBeGreaterThan(110)
  })
})

test.each([
  ['http://p.example', 'http://p.example:80'],
  ['HTTPS://u:p@P.example:8443/', 'https://p.example:8443'],
  ['socks5h://[2001:db8::1]', 'socks5://[2001:db8::1]:1080'],
])('%s is read as %s', (text, shown) => {
  expect(shownProxy(readProxy(text))).toBe(shown)
})

test.each(['ftp://p.example', 'p.example:80', 'http://secret@/', 'http://u:secret@p.example/path', 'secret'])(
  '%s is no proxy, and is not repeated in the refusal',
  (text) => {
    expect(() => readProxy(text)).toThrow(/not a proxy/)
    expect(() => readProxy(text)).not.toThrow(/secret/)
  },
)
