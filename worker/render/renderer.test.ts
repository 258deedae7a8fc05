import dgram from 'node:dgram'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { findChromium } from '../../cli/stack/chromium'
import type { Lookup } from '../../core/address-guard'
import { openLog } from '../../core/log'
import { PLAIN_RULES } from '../../core/render-rules'
import type { FetchFailure } from '../fetch/failure'
import type { FetchRequest } from '../fetch/fetcher'
import { processesOf } from './browser'
import { createRenderer, type Renderer, type RendererOptions } from './renderer'

/** Stands for a public address: what connects to it arrives at the site of this test. */
const PUBLIC = '93.184.216.34'
const chromium = await findChromium()
const pages = new Map<string, (request: IncomingMessage, response: ServerResponse) => void>()
const asked: string[] = []
const site = createServer((request, response) => {
  asked.push(request.url!)
  const page = pages.get(request.url!.split('?')[0]!)
  if (page) page(request, response)
  else response.writeHead(404, { 'content-type': 'text/html' }).end('<p>none</p>')
})
/** Whatever arrives here came past the guard. */
const canary = net.createServer((socket) => {
  reached.push('tcp')
  socket.end('HTTP/1.1 200 OK\r\nContent-Length: 6\r\nAccess-Control-Allow-Origin: *\r\n\r\nsecret')
})
const udpCanary = dgram.createSocket('udp4', () => reached.push('udp'))
const reached: string[] = []
let port: number
let canaryPort: number
let renderer: Renderer
let options: RendererOptions
/** Answers of the resolver by name, in turn; the last one stays. */
const names = new Map<string, string[]>()

const html =
  (text: string, status = 200) =>
  (_: IncomingMessage, response: ServerResponse) =>
    void response.writeHead(status, { 'content-type': 'text/html', 'x-page': 'yes' }).end(text)
pages.set('/calm', html('<p>calm'))

vi.setConfig({ testTimeout: 180_000 })

beforeAll(async () => {
  if (!chromium.path) return
  site.listen(0, '127.0.0.1')
  canary.listen(0, '127.0.0.1')
  udpCanary.bind(0, '127.0.0.1')
  await Promise.all([once(site, 'listening'), once(canary, 'listening'), once(udpCanary, 'listening')])
  port = (site.address() as AddressInfo).port
  canaryPort = (canary.address() as AddressInfo).port
  const connect = net.connect
  // The internet of this test: the guard sees a public address, the socket arrives here.
  vi.spyOn(net, 'connect').mockImplementation(((options: net.TcpNetConnectOpts) =>
    connect({
      ...options,
      lookup: (host, details, done) =>
        options.lookup!(host, { ...details, all: true }, (error, addresses) => {
          const found = (error ? [] : (addresses as { address: string; family: number }[])).map((one) =>
            // Nothing listens at the other address.
            one.address === PUBLIC
              ? { ...one, address: Number(options.port) === port ? '127.0.0.1' : '127.0.0.2' }
              : one,
          )
          if (details.all) done(error, found)
          else done(error, found[0]?.address ?? '', found[0]?.family)
        }),
    })) as typeof net.connect)
  const lookup: Lookup = (host, _, done) => {
    const answers = names.get(host) ?? [host === 'localhost' ? '127.0.0.1' : PUBLIC]
    const address = answers.length > 1 ? answers.shift()! : answers[0]!
    done(null, [{ address, family: 4 }])
  }
  options = {
    path: chromium.path,
    slots: 8,
    recyclePages: 12,
    memoryLineMb: 4_000,
    log: openLog('test'),
    userAgent: 'Orbweaver/test',
    maxRedirects: 3,
    maxBytes: 1_000_000,
    connectTimeoutMs: 2_000,
    totalTimeoutMs: 80_000,
    lookup,
  }
  renderer = createRenderer(options)
})
afterAll(async () => {
  await renderer?.close()
  site.closeAllConnections()
  site.close()
  canary.close()
  udpCanary.close()
  vi.restoreAllMocks()
})

const at = (path: string, host = 'site.test') => `http://${host}:${port}${path}`
const render = (path: string, more: Partial<FetchRequest> = {}) =>
  renderer.fetch(/^https?:/.test(path) ? path : at(path), {
    allowPrivate: false,
    headers: {},
    signal: new AbortController().signal,
    ...more,
  })
const failure = (path: string, more: Partial<FetchRequest> = {}) =>
  render(path, more).then(
    ({ status }) => `answered ${status}`,
    (error: FetchFailure) => error.code ?? error.name,
  )

describe.skipIf(!chromium.path)('a page in Chromium', () => {
  test('comes as its scripts have made it, with status, headers and address of its main document', async () => {
    pages.set(
      '/app',
      html(
        '<body><script>document.body.innerHTML = `<h1>made</h1><a href="/next">n</a>`; history.replaceState(0, 0, "/app?shown=1#part")</script>',
        203,
      ),
    )
    const page = await render('/app')
    expect(page.body.toString()).toContain('<h1>made</h1><a href="/next">n</a>')
    expect(page).toMatchObject({ status: 203, finalUrl: at('/app?shown=1'), redirects: [], truncated: null })
    expect(page.headers).toMatchObject({ 'x-page': 'yes' })
    expect(page.contentType).toBe('text/html; charset=utf-8')
  })

  test('asks with the user agent of the spider, and gives its headers to its own site alone', async () => {
    const seen: (string | undefined)[] = []
    const note = (next: string) => (request: IncomingMessage, response: ServerResponse) => {
      seen.push(`${request.headers['user-agent']} ${request.headers['x-key']}`)
      if (next) response.writeHead(302, { location: next }).end()
      else html('<p>there')(request, response)
    }
    pages.set('/mine', note('/mine2'))
    pages.set('/mine2', note(at('/other', 'other.test')))
    pages.set('/other', note(''))
    const page = await render('/mine', { headers: { 'X-Key': 'k' }, userAgent: 'Mine/1' })
    expect(seen).toEqual(['Mine/1 k', 'Mine/1 k', 'Mine/1 undefined'])
    expect(page).toMatchObject({
      finalUrl: at('/other', 'other.test'),
      redirects: [at('/mine'), at('/mine2')],
    })
  })

  test('is held to scope and robots at each hop, by redirect or by script, before the hop is fetched', async () => {
    pages.set('/moved', (_, response) => void response.writeHead(302, { location: '/forbidden' }).end())
    pages.set('/script', html('<script>location = "/forbidden"</script>'))
    pages.set(
      '/loop',
      (request, response) =>
        void response.writeHead(302, { location: `/loop?${request.url!.length}${Math.random()}` }).end(),
    )
    pages.set('/forbidden', html('<p>no'))
    const redirectAllowed = (url: string) => !url.endsWith('/forbidden')
    expect(await failure('/moved', { redirectAllowed })).toBe('redirect_scope')
    expect(await failure('/script', { redirectAllowed })).toBe('redirect_scope')
    expect(await failure('/loop')).toBe('redirect_limit')
    expect(asked.filter((path) => path === '/forbidden')).toEqual([])
  })

  test('fetches no image, font, medium or icon, and no style sheet where the spider wants none', async () => {
    pages.set(
      '/rich',
      html(
        '<link rel=icon href=/i.svg><link rel=stylesheet href=/s.css><style>@font-face{font-family:f;src:url(/f.woff2)} p{font-family:f}</style><img src=/i.png><video src=/v.mp4></video><p>x',
      ),
    )
    pages.set(
      '/s.css',
      (_, response) => void response.writeHead(200, { 'content-type': 'text/css' }).end('p{color:red}'),
    )
    const parts = async (stylesheets: boolean) => {
      asked.length = 0
      await render('/rich', { render: { ...PLAIN_RULES, settle: 0.3, stylesheets } })
      return asked.filter((path) => path !== '/rich')
    }
    expect(await parts(true)).toEqual(['/s.css'])
    expect(await parts(false)).toEqual([])
  })

  test('is waited for, acted upon and scrolled as the spider says; what is not there is passed over', async () => {
    pages.set(
      '/steps',
      html(
        '<input id=q><button onclick="setTimeout(() => document.body.append(q.value + `!`, Object.assign(document.createElement(`i`), {id: `done`})), 300)">go</button><div style="height:9000px"></div><script>addEventListener("scroll", () => document.body.append("scrolled"))</script>',
      ),
    )
    const page = await render('/steps', {
      render: {
        ...PLAIN_RULES,
        scroll: 1,
        actions: [{ fill: '#q', text: 'typed' }, { click: 'button' }, { waitFor: '#done' }],
      },
    })
    expect(page.body.toString()).toMatch(/typed!.*scrolled/s)
  })

  test('that never ends is given up at the time limit, and those beside it do not notice', async () => {
    pages.set('/spin', html('<script>for(;;);</script>'))
    pages.set(
      '/ticks',
      html(
        '<p>calm<script>for (let n = 0; n < 500; n++) setInterval(() => document.body.append("."), 0)</script>',
      ),
    )
    const hasty = createRenderer({ ...options, totalTimeoutMs: 20_000 })
    const on = (path: string) =>
      hasty.fetch(at(path), { allowPrivate: false, headers: {}, signal: new AbortController().signal }).then(
        ({ status }) => status,
        (error: FetchFailure) => error.code,
      )
    await on('/calm')
    expect(await Promise.all([on('/spin'), on('/calm'), on('/ticks')])).toEqual(['timeout_total', 200, 200])
    expect(await on('/calm')).toBe(200)
    await hasty.close()
  })

  test('that takes all its memory ends alone, as with a worker that vanished; those beside it go on', async () => {
    pages.set('/hog', html('<script>const all = []; for (;;) all.push(new Array(1e6).fill(0.5))</script>'))
    pages.set('/slow', html('<script>setTimeout(() => document.body.append("whole"), 1500)</script>'))
    const slow = render('/slow', { render: { ...PLAIN_RULES, settle: 2 } })
    expect(await failure('/hog')).toBe('PageCrashed')
    expect((await slow).body.toString()).toContain('whole')
  })

  test('of another type comes as it was sent; a file to be saved is none', async () => {
    pages.set(
      '/json',
      (_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":1}'),
    )
    pages.set(
      '/file',
      (_, response) => void response.writeHead(200, { 'content-type': 'application/zip' }).end('PK'),
    )
    expect(await render('/json')).toMatchObject({
      contentType: 'application/json',
      body: Buffer.from('{"a":1}'),
    })
    expect(await failure('/file')).toBe('type')
    await expect(
      renderer.fetch('file:///etc/passwd', {
        allowPrivate: true,
        headers: {},
        signal: new AbortController().signal,
      }),
    ).rejects.toMatchObject({ code: 'bad_scheme' })
  })

  test('keeps what it sets as cookies, scripts included, and takes the run’s along, which stay as the jar has them', async () => {
    const taken: string[] = []
    pages.set('/cookie', (request, response) => {
      response
        .writeHead(200, { 'content-type': 'text/html', 'set-cookie': 'a=1' })
        .end(`<p>${request.headers.cookie}</p><script>document.cookie = "b=2"</script>`)
    })
    const page = await render('/cookie', {
      cookies: { header: () => 's=7', take: (_, lines) => taken.push(...lines) },
    })
    expect(page.body.toString()).toContain('<p>s=7</p>')
    expect(taken.map((line) => line.split(';')[0]).sort()).toEqual(['a=1', 'b=2'])
  })
})

describe.skipIf(!chromium.path)('a page that wants to go where it must not', () => {
  const places = () => [
    `127.0.0.1:${canaryPort}`,
    `localhost:${canaryPort}`,
    `[::1]:${canaryPort}`,
    `2130706433:${canaryPort}`,
    `[::ffff:127.0.0.1]:${canaryPort}`,
    `rebound.test:${canaryPort}`,
    '169.254.169.254',
    'metadata.test',
  ]
  /** Runs a script in a page and waits until it says that it is through with all places. */
  const attempt = async (path: string, script: string) => {
    names.set('rebound.test', [PUBLIC, '127.0.0.1'])
    names.set('metadata.test', ['169.254.169.254'])
    reached.length = 0
    pages.set(
      path,
      html(`<body><script type=module>
      const places = ${JSON.stringify(places())}
      const told = []
      ${script}
      document.body.append(Object.assign(document.createElement('i'), { id: 'through', textContent: JSON.stringify(told) }))
    </script>`),
    )
    // Each waits for 5 s at most; a machine with much to do takes longer for the script.
    const actions = Array.from({ length: 10 }, () => ({ waitFor: '#through' }))
    const page = await render(path, { render: { ...PLAIN_RULES, actions } })
    return JSON.parse(/id="through">(.*?)</.exec(page.body.toString())?.[1] ?? 'null') as unknown[]
  }

  test('reaches nothing by fetch, beacon, frame, form, style sheet, worker or event stream', async () => {
    // Its first answer is public, as the page's own site is; the canary would be reached by the second.
    const told = await attempt(
      '/fetches',
      `
      const worker = new Worker(URL.createObjectURL(new Blob(['onmessage = (e) => fetch(e.data).then(() => postMessage("read"), () => postMessage("no"))'])))
      for (const place of places) {
        const url = 'http://' + place + '/'
        told.push(await fetch(url, { mode: 'no-cors' }).then(() => 'read ' + url, () => 'no'))
        told.push(await new Promise((r) => { worker.onmessage = (e) => r(e.data); worker.postMessage(url) }))
        navigator.sendBeacon(url, 'x')
        document.head.append(Object.assign(document.createElement('link'), { rel: 'stylesheet', href: url }))
        document.head.append(Object.assign(document.createElement('link'), { rel: 'preconnect', href: url }))
        document.body.append(Object.assign(document.createElement('iframe'), { src: url }))
        const form = document.body.appendChild(Object.assign(document.createElement('form'), { action: url, target: '_blank' }))
        form.submit()
        new EventSource(url)
      }
      await new Promise((r) => setTimeout(r, 1000))`,
    )
    expect(new Set(told)).toEqual(new Set(['no']))
    expect(reached).toEqual([])
  })

  test('reaches nothing by websocket, WebRTC or WebTransport', async () => {
    const told = await attempt(
      '/sockets',
      `
      for (const place of places) {
        told.push(await new Promise((r) => { const w = new WebSocket('ws://' + place + '/'); w.onopen = () => r('open'); w.onerror = () => r('no') }))
      }
      const udp = '127.0.0.1:UDP'
      const rtc = new RTCPeerConnection({ iceServers: [{ urls: 'stun:' + udp }, { urls: 'turn:' + places[0] + '?transport=tcp', username: 'u', credential: 'c' }] })
      rtc.createDataChannel('x')
      await rtc.setLocalDescription(await rtc.createOffer())
      if (self.WebTransport) told.push(await new WebTransport('https://' + udp + '/').ready.then(() => 'open', () => 'no'))
      await new Promise((r) => setTimeout(r, 1500))`.replace(
        'UDP',
        String((udpCanary.address() as AddressInfo).port),
      ),
    )
    expect(new Set(told)).toEqual(new Set(['no']))
    expect(reached).toEqual([])
  })

  test('is refused as a page at a private address is, by redirect, script or name, and sees no file', async () => {
    reached.length = 0
    const refused = async (place: string, n: number) => {
      const url = `http://${place}/`
      pages.set(`/to${n}`, (_, response) => void response.writeHead(302, { location: url }).end())
      pages.set(`/script${n}`, html(`<script>location = ${JSON.stringify(url)}</script>`))
      // An address and a name stand for all where it is the same proxy that refuses.
      const ways = n < 1 || n === 6 ? [url, `/to${n}`, `/script${n}`] : [url]
      for (const way of ways)
        expect([way, place, await failure(way)]).toEqual([way, place, 'private_address'])
    }
    await Promise.all(
      places()
        .filter((place) => !place.startsWith('rebound'))
        .map(refused),
    )
    pages.set(
      '/local',
      html(
        '<p>mine<script>location = "file:///etc/passwd"</script><iframe src="file:///etc/passwd"></iframe>',
      ),
    )
    const text = await render('/local').then(({ body }) => body.toString(), String)
    expect(text).not.toContain('root:')
    expect(reached).toEqual([])
  })

  test('reaches a private address where the spider may', async () => {
    pages.set('/private', html('<p>mine'))
    expect((await render(`http://127.0.0.1:${port}/private`, { allowPrivate: true })).status).toBe(200)
  })

  test('opens no second window, stays in no dialog, saves no file and installs no service worker', async () => {
    const done = 'document.body.append(" through")'
    const script = (text: string) => html(`<p>mine<script>${text}</script>`)
    pages.set(
      '/popup',
      script(`window.open("/popped"); alert(1); confirm(2); onbeforeunload = () => 1; ${done}`),
    )
    pages.set(
      '/saves',
      script(
        `const a = document.createElement("a"); a.href = "/saved.zip"; a.download = "x"; a.click(); ${done}`,
      ),
    )
    pages.set('/sw', script(`navigator.serviceWorker?.register("/sw.js"); ${done}`))
    for (const path of ['/popup', '/saves', '/sw'])
      expect([
        path,
        (await render(path, { render: { ...PLAIN_RULES, settle: 0.3 } })).body.toString(),
      ]).toEqual([path, expect.stringContaining('through')])
    expect(asked.filter((path) => ['/popped', '/sw.js'].includes(path))).toEqual([])
  })

  test('and closes itself, or is larger than a page may be, costs no more than itself', async () => {
    pages.set('/closes', html('<p>mine<script>window.close(); document.body.append(" through")</script>'))
    pages.set('/huge', html('<body><script>document.body.innerHTML = "text".repeat(300000)</script>'))
    const [closes, huge] = await Promise.all([failure('/closes'), render('/huge')])
    expect(closes).toMatch(/^(answered 200|PageCrashed)$/)
    expect([huge.body.length, huge.truncated]).toEqual([1_000_000, 'cap'])
    expect(await failure('/calm')).toBe('answered 200')
  })
})

describe.skipIf(!chromium.path)('the browser', () => {
  test('stays as large as it is while it serves pages and is started anew, and so does the worker', async () => {
    pages.set(
      '/page',
      html(
        `<body><script>document.body.innerHTML = '<p>text</p>'.repeat(500); self.kept = new Float64Array(1e6).fill(1)</script>`,
      ),
    )
    const sizes: { browser: number; worker: number }[] = []
    let left = 40
    const slot = async () => {
      while (left-- > 0) {
        expect((await render('/page')).status).toBe(200)
        sizes.push({
          browser: renderer.browser.bytes / 2 ** 20,
          worker: process.memoryUsage().heapUsed / 2 ** 20,
        })
      }
    }
    await Promise.all([slot(), slot(), slot(), slot()])
    const told = sizes.map(({ browser, worker }) => `${browser.toFixed(0)}/${worker.toFixed(0)}`).join(' ')
    // What is kept of each page raises the least, too; the most depends on when memory is given back.
    const [early, late] = [sizes.slice(0, 14), sizes.slice(-14)]
    for (const key of ['browser', 'worker'] as const)
      expect(Math.min(...late.map((size) => size[key])), `MB of browser/worker: ${told}`).toBeLessThan(
        Math.max(...early.map((size) => size[key])) * 1.3 + 50,
      )
  })

  test('that is killed fails its pages as a vanished worker would, and the next page has a new one', async () => {
    asked.length = 0
    const slow = [1, 2].map(() => failure('/calm', { render: { ...PLAIN_RULES, settle: 8 } }))
    await vi.waitUntil(() => asked.filter((path) => path === '/calm').length === 2, { timeout: 20_000 })
    const [main] = (await renderer.browser.use(processesOf)).filter(({ type }) => type === 'browser')
    process.kill(main!.id, 'SIGKILL')
    expect(await Promise.all(slow)).toEqual(['BrowserLost', 'BrowserLost'])
    expect((await render('/calm')).status).toBe(200)
  })

  test('that hangs fails its pages at their time limit, is killed, and the next page has a new one', async () => {
    const hung = createRenderer({ ...options, totalTimeoutMs: 15_000 })
    const fetch = () =>
      hung.fetch(at('/calm'), { allowPrivate: false, headers: {}, signal: new AbortController().signal })
    expect((await fetch()).status).toBe(200)
    const [main] = (await hung.browser.use(processesOf)).filter(({ type }) => type === 'browser')
    process.kill(main!.id, 'SIGSTOP')
    const ends = await Promise.all(
      [1, 2].map(() =>
        fetch().then(
          () => 'answered',
          (error: FetchFailure) => error.code,
        ),
      ),
    )
    expect(ends).toEqual(['timeout_total', 'timeout_total'])
    expect((await fetch()).status).toBe(200)
    expect(() => process.kill(main!.id, 0)).toThrow('ESRCH')
    await hung.close()
  })

  test('never has more pages in it than it has room for; the others wait their turn', async () => {
    const narrow = createRenderer({ ...options, slots: 2 })
    const held: (() => void)[] = []
    pages.set('/held', (request, response) => void held.push(() => html('<p>held')(request, response)))
    const { signal } = new AbortController()
    const all = [1, 2, 3, 4].map(() =>
      narrow.fetch(at('/held'), { allowPrivate: false, headers: {}, signal }),
    )
    await vi.waitUntil(() => held.length === 2, { timeout: 20_000 })
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(held.splice(0).map((answer) => answer())).toHaveLength(2)
    await vi.waitUntil(() => held.length === 2, { timeout: 20_000 })
    for (const answer of held) answer()
    expect((await Promise.all(all)).map(({ status }) => status)).toEqual(Array(4).fill(200))
    await narrow.close()
  })
})
