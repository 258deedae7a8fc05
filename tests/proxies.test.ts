import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { setEnv } from '../core/env'
import { addProxies, listProxies, removeProxy } from '../server/services/proxies'
import { httpProxy, socksProxy, type TestProxy } from '../worker/proxy/proxies-fixture'
import { type CrawlRig, openRig } from './crawl-rig'

const KEY = 'of-this-test-run-only-0123456789abcdef'

let rig: CrawlRig
let site: Server
let home: string
let socks: TestProxy
let http: TestProxy
const asked: string[] = []

beforeAll(async () => {
  site = createServer(({ url }, response) => {
    asked.push(url!)
    if (url === '/robots.txt') return response.writeHead(404).end()
    response.writeHead(200, { 'content-type': 'text/html' }).end('<title>x</title><a href="/next">next</a>')
  }).listen(0, '127.0.0.1')
  await once(site, 'listening')
  const { port } = site.address() as AddressInfo
  home = `http://127.0.0.1:${port}`
  setEnv({ SECRETS_KEY: KEY, PROXY_TEST_URL: `${home}/` })
  socks = await socksProxy(port)
  http = await httpProxy(port)
  rig = await openRig({ perHost: 1 })
})
afterAll(async () => {
  await rig.close()
  for (const one of [site, socks, http]) await one.close()
})

test('proxies are tried before they are taken, and the secrets of none are told or stored in the open', async () => {
  const { services, queue } = rig
  const lines = [socks.url, socks.url.replace('hush%3Ahush', 'geheim'), 'gopher://me:geheim@x', http.url]
  const { added, refused } = await addProxies(services, queue, lines, 'test')
  expect(added).toBe(2)
  expect(refused.map(({ line }) => line)).toEqual([2, 3])
  const shown = await listProxies(services, queue)
  expect(shown).toMatchObject([{ uses: 0, score: 1, restsUntil: null }, { uses: 0 }])
  const [stored] = await services.database.pool.query('SELECT * FROM proxies')
  const [audit] = await services.database.pool.query('SELECT * FROM audit_log')
  expect(JSON.stringify([refused, shown, stored, audit])).not.toMatch(/geheim|hush/)
})

test('a crawl goes through its queue’s proxies, robots.txt too, in turn, and directly once they are removed', async () => {
  const { services, queue } = rig
  rig.workers(1, { SECRETS_KEY: KEY })
  for (const proxy of [socks, http]) proxy.asked.length = 0
  asked.length = 0
  await rig.ended(await rig.run(`${home}/`))
  expect(asked.sort()).toEqual(['/', '/next', '/robots.txt'])
  expect(socks.asked.length).toBeGreaterThan(0)
  expect(http.asked.length).toBeGreaterThan(0)
  const used = await listProxies(services, queue)
  expect(used.reduce((sum, { uses }) => sum + uses, 0)).toBe(3)

  for (const { id } of used) await removeProxy(services, queue, id, 'test')
  await expect
    .poll(
      async () => {
        const before = socks.asked.length + http.asked.length
        await rig.ended(await rig.run(`${home}/again`))
        return socks.asked.length + http.asked.length - before
      },
      { timeout: 40_000 },
    )
    .toBe(0)
}, 90_000)
