import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { findChromium } from '../../cli/stack/chromium'
import { openLog } from '../../core/log'
import { type ProxyAddress, readProxy } from '../../core/proxy-address'
import { PLAIN_RULES } from '../../core/render-rules'
import type { FetchFailure } from '../fetch/failure'
import type { FetchRequest } from '../fetch/fetcher'
import { httpProxy, socksProxy, type TestProxy } from '../proxy/proxies-fixture'
import { createRenderer, type Renderer } from './renderer'

/** Stands for a public address; only the proxies of this test lead from it to its site. */
const PUBLIC = '93.184.216.34'
const chromium = await findChromium()
const seen: { host: string; path: string; key: string | undefined; sign: string | undefined }[] = []
const pages = new Map<string, (response: ServerResponse) => void>()
const site = createServer((request: IncomingMessage, response) => {
  const { host = '', 'x-key': key, authorization: sign } = request.headers
  seen.push({ host: host.split(':')[0]!, path: request.url!, key: key as string | undefined, sign })
  const page = pages.get(request.url!)
  if (page) page(response)
  else response.writeHead(200, { 'access-control-allow-origin': '*' }).end('part')
})
const html = (text: string) => (response: ServerResponse) =>
  void response.writeHead(200, { 'content-type': 'text/html' }).end(text)
const to = (location: string) => (response: ServerResponse) =>
  void response.writeHead(302, { location }).end()

let port: number
let renderer: Renderer
let proxies: TestProxy[]

vi.setConfig({ testTimeout: 180_000 })

describe.skipIf(!chromium.path)('what leaves the browser', () => {
  beforeAll(async () => {
    site.listen(0, '127.0.0.1')
    await once(site, 'listening')
    port = (site.address() as AddressInfo).port
    proxies = [await httpProxy(port), await socksProxy(port)]
    renderer = createRenderer({
      ...{ path: chromium.path!, slots: 4, recyclePages: 100, memoryLineMb: 4_000, log: openLog('test') },
      ...{ userAgent: 'Orbweaver/test', maxRedirects: 5, maxBytes: 1_000_000 },
      ...{ connectTimeoutMs: 10_000, totalTimeoutMs: 80_000 },
      lookup: (host, _, done) =>
        done(null, [{ address: host.startsWith('private') ? '127.0.0.1' : PUBLIC, family: 4 }]),
    })
  }, 60_000)
  afterAll(async () => {
    await renderer?.close()
    for (const proxy of proxies ?? []) await proxy.close()
    site.closeAllConnections()
    site.close()
  })

  const through = ({ url }: { url: string }) => {
    const address: ProxyAddress = readProxy(url)
    return { id: 1, shown: 'a proxy', address }
  }
  const render = (url: string, more: Partial<FetchRequest>) => {
    seen.length = 0
    return renderer.fetch(url, {
      ...{ allowPrivate: false, headers: {}, signal: new AbortController().signal },
      ...more,
    })
  }

  test('goes through the queue’s proxy with all that a page asks for, which is given addresses and no names', async () => {
    pages.set(
      '/page',
      html(
        '<body><script>fetch("http://other.test/part").then((r) => r.text()).then((t) => { document.body.innerHTML = "<i>" + t + "</i>" })</script>',
      ),
    )
    for (const proxy of proxies) {
      const page = await render('http://site.test/page', {
        ...{ proxy: through(proxy), render: { ...PLAIN_RULES, selector: 'i' } },
      })
      expect(page.body.toString()).toContain('<i>part</i>')
      expect(seen.map(({ host, path }) => `${host}${path}`)).toEqual(['site.test/page', 'other.test/part'])
      expect([...new Set(proxy.asked)]).toEqual([`${PUBLIC}:80`])
    }
  })

  test('is held to public addresses before a proxy is asked, and a proxy that does not serve is told from a site that does not', async () => {
    const asked = proxies[0]!.asked.length
    const failure = (host: string, proxy: { url: string }) =>
      render(`http://${host}/page`, { proxy: through(proxy) }).then(
        () => 'answered',
        (error: FetchFailure) => error.code,
      )
    expect(await failure('private.test', proxies[0]!)).toBe('private_address')
    expect(await failure('127.0.0.1', proxies[0]!)).toBe('private_address')
    expect(proxies[0]!.asked.length).toBe(asked)
    expect(await failure('site.test', { url: 'http://127.0.0.1:1' })).toBe('proxy')
    const deaf = await socksProxy(port, 5)
    expect(await failure('site.test', deaf)).toBe('connect')
    await deaf.close()
    expect(seen).toEqual([])
  })

  test('has the secrets that the spider signs in with on the page’s own origin alone, and no more once it has left it', async () => {
    pages.set(
      '/in',
      html(
        '<body><script src="http://other.test/part"></script><script>fetch("http://other.test/part").finally(() => { location = "/next" })</script>',
      ),
    )
    pages.set('/next', to('http://other.test/away'))
    pages.set('/away', to('http://site.test/back'))
    pages.set('/back', html('<p>back<script>document.body.append(" again")</script>'))
    const headers = { 'X-Key': 'k', authorization: 'Bearer t' }
    const page = await render('http://site.test/in', {
      ...{ headers, proxy: through(proxies[0]!), render: { ...PLAIN_RULES, selector: 'p' } },
    })
    expect(page.finalUrl).toBe('http://site.test/back')
    const told = seen.map(({ host, path, key, sign }) => `${host}${path} ${key} ${sign}`)
    expect([...new Set(told)].toSorted()).toEqual([
      'other.test/away undefined undefined',
      'other.test/part undefined undefined',
      'site.test/back undefined undefined',
      'site.test/in k Bearer t',
      'site.test/next k Bearer t',
    ])
  })
})
