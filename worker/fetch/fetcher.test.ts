import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import net, { type AddressInfo, type Socket } from 'node:net'
import zlib from 'node:zlib'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { FetchFailure } from './failure'
import { createFetcher, type Fetched, type Fetcher, type FetcherOptions, type FetchRequest } from './fetcher'
import { answer, type OracleServer, oracleServer, type Respond } from './oracle-server'

const TEXT = `<html>${'All pages of the manual, one after the other. '.repeat(500)}</html>`
const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n'

const fetchers: Fetcher[] = []
const servers: OracleServer[] = []

function fetcher(options: Partial<FetcherOptions> = {}): Fetcher {
  const made = createFetcher({
    userAgent: 'Oracle/1',
    connectTimeoutMs: 1000,
    readTimeoutMs: 900,
    totalTimeoutMs: 3000,
    maxRedirects: 5,
    maxBytes: 1_000_000,
    ...options,
  })
  fetchers.push(made)
  return made
}

async function server(respond: Respond | Buffer | string): Promise<OracleServer> {
  const started = await oracleServer(
    typeof respond === 'function'
      ? respond
      : (socket) => {
          socket.end(respond)
        },
  )
  servers.push(started)
  return started
}

const shared = fetcher()
const get = (url: string, request: Partial<FetchRequest> = {}, from: Fetcher = shared): Promise<Fetched> =>
  from.fetch(url, { allowPrivate: true, headers: {}, signal: new AbortController().signal, ...request })
const fails = async (promise: Promise<Fetched>): Promise<FetchFailure> => {
  const error = await promise.then(
    (fetched) => new Error(`fetched ${fetched.status}`),
    (reason: unknown) => reason,
  )
  if (!(error instanceof FetchFailure)) throw error
  return error
}

afterEach(async () => {
  await Promise.all(servers.splice(0).map((started) => started.close()))
})
afterAll(async () => {
  await Promise.all(fetchers.map((made) => made.close()))
})

describe('a plain answer', () => {
  it('comes with status, headers, body, sizes and time', async () => {
    const { origin } = await server((socket) => socket.write(answer(TEXT, { 'X-Two': 'a', 'x-two': 'b' })))
    const fetched = await get(`${origin}/a?b=c`)
    expect(fetched).toMatchObject({
      url: `${origin}/a?b=c`,
      finalUrl: `${origin}/a?b=c`,
      status: 200,
      contentType: 'text/html',
      truncated: null,
      wireBytes: TEXT.length,
      redirects: [],
    })
    expect(fetched.headers['x-two']).toBe('a, b')
    expect(fetched.body.toString()).toBe(TEXT)
    expect(fetched.ms).toBeGreaterThanOrEqual(0)
  })

  it('is asked for with our agent, the spider’s headers over it, and none that belong to the connection', async () => {
    const { origin, requests } = await server((socket) => socket.write(answer('x')))
    await get(`${origin}/`, {
      headers: { 'user-agent': 'Mine/2', 'X-Key': 'k', 'Transfer-Encoding': 'chunked', Host: 'evil' },
    })
    expect(requests[0]).toContain('user-agent: Mine/2')
    expect(requests[0]).toContain('x-key: k')
    expect(requests[0]).toContain('accept-encoding: gzip, deflate, br')
    expect(requests[0]).not.toMatch(/transfer-encoding|evil|Oracle/)
  })

  it('keeps its connection for the next', async () => {
    const { origin, connections } = await server((socket) => socket.write(answer('x')))
    for (let index = 0; index < 20; index++) await get(`${origin}/${index}`)
    // A connection is free again one turn of the event loop after its answer, hence a second one.
    expect(connections()).toBeLessThanOrEqual(2)
  })

  it('is fetched anew when the server drops a kept connection at the next request', async () => {
    const served = new WeakSet<Socket>()
    const { origin, requests } = await server((socket) => {
      if (served.has(socket)) socket.end()
      else socket.write(answer('x'))
      served.add(socket)
    })
    for (let index = 0; index < 6; index++) expect((await get(`${origin}/${index}`)).status).toBe(200)
    expect(requests.length).toBeGreaterThan(6)
  })
})

describe('answers that are HTTP only just', () => {
  const gzip = zlib.gzipSync(TEXT)
  const accepted: [string, string | Buffer, Partial<Fetched> & { text?: string }][] = [
    [
      'gzip cut off: prefix, flagged',
      answer(gzip.subarray(0, gzip.length - 60), {
        'Content-Encoding': 'gzip',
        'Content-Length': `${gzip.length}`,
      }),
      { truncated: 'cut' },
    ],
    ['header says gzip, body plain', answer(TEXT, { 'Content-Encoding': 'gzip' }), { text: TEXT }],
    ['gzip, identity', answer(gzip, { 'Content-Encoding': 'gzip, identity' }), { text: TEXT }],
    ['404 with gzip', answer(gzip, { 'Content-Encoding': 'gzip' }, 404), { status: 404, text: TEXT }],
    ['gzip of Content-Length 0', answer('', { 'Content-Encoding': 'gzip' }), { text: '' }],
    [
      'Content-Length too long, then close',
      `${HEAD}Content-Length: 100\r\n\r\nshort`,
      { truncated: 'cut', text: 'short' },
    ],
    [
      'Content-Length beside chunked: chunked wins',
      `${HEAD}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nwhole\r\n0\r\n\r\n`,
      { truncated: null, text: 'whole' },
    ],
    [
      'chunked beside Content-Length: the same',
      `${HEAD}Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n5\r\nwhole\r\n0\r\n\r\n`,
      { truncated: null, text: 'whole' },
    ],
    [
      'the same Content-Length twice',
      `${HEAD}Content-Length: 5\r\nContent-Length: 5\r\n\r\nwhole`,
      { truncated: null, text: 'whole' },
    ],
    [
      'chunked that never says its end',
      `${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\nwhole\r\n`,
      { truncated: 'cut', text: 'whole' },
    ],
    ['no length, until close', `${HEAD}\r\nwhole`, { truncated: null, text: 'whole' }],
    ['HTTP/1.0', 'HTTP/1.0 200 OK\r\n\r\nwhole', { truncated: null, text: 'whole', contentType: null }],
    [
      'an unasked 100 first',
      `HTTP/1.1 100 Continue\r\n\r\n${HEAD}Content-Length: 5\r\n\r\nwhole`,
      { status: 200, text: 'whole' },
    ],
    [
      '103 first',
      `HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n${HEAD}Content-Length: 5\r\n\r\nwhole`,
      { status: 200, text: 'whole' },
    ],
    [
      '103 twice first',
      `HTTP/1.1 103 A\r\n\r\nHTTP/1.1 103 B\r\n\r\n${HEAD}Content-Length: 5\r\n\r\nwhole`,
      { status: 200, text: 'whole' },
    ],
    [
      '204 with a body',
      'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nextra',
      { status: 204, text: '' },
    ],
    [
      '304 with a body',
      'HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\nextra',
      { status: 304, text: '' },
    ],
    ['a header without a colon', `${HEAD}Nonsense\r\nContent-Length: 5\r\n\r\nwhole`, { text: 'whole' }],
    ['a space before the colon', `${HEAD}X-Odd : 1\r\nContent-Length: 5\r\n\r\nwhole`, { text: 'whole' }],
    ['a folded header', `${HEAD}X-Long: a\r\n b\r\nContent-Length: 5\r\n\r\nwhole`, { text: 'whole' }],
    [
      'a control character in a header',
      `${HEAD}X-Odd: a\u0001b\r\nContent-Length: 5\r\n\r\nwhole`,
      { text: 'whole' },
    ],
    ['bare line feeds', `${HEAD}Content-Length: 5\r\n\r\nwhole`.replaceAll('\r', ''), { text: 'whole' }],
    [
      '40 KiB of headers',
      `${HEAD}X-Big: ${'a'.repeat(40_000)}\r\nContent-Length: 5\r\n\r\nwhole`,
      { text: 'whole' },
    ],
    [
      'an upgrade nobody asked for',
      `HTTP/1.1 200 OK\r\nConnection: upgrade\r\nUpgrade: h2c\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nwhole`,
      { text: 'whole' },
    ],
    [
      'Content-Type said twice',
      `${HEAD}Content-Type: text/plain\r\nContent-Length: 5\r\n\r\nwhole`,
      { contentType: 'text/plain' },
    ],
    [
      'more bytes than Content-Length says',
      `${HEAD}Content-Length: 5\r\n\r\nwhole, and more`,
      { text: 'whole' },
    ],
    ['status 999', 'HTTP/1.1 999 Denied\r\nContent-Length: 0\r\n\r\n', { status: 999 }],
    ['an unknown coding', answer(TEXT, { 'Content-Encoding': 'utf-8' }), { text: TEXT }],
  ]
  it.each(accepted)('%s', async (_title, bytes, { text, ...expected }) => {
    const { origin } = await server(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
    const fetched = await get(`${origin}/`)
    expect(fetched).toMatchObject({ status: 200, ...expected })
    if (text !== undefined) expect(fetched.body.toString()).toBe(text)
    if (expected.truncated === 'cut')
      expect(TEXT.startsWith(fetched.body.toString()) || fetched.body.length === 5).toBe(true)
  })

  const refused: [string, string][] = [
    ['no HTTP at all', 'SSH-2.0-OpenSSH_9.2\r\n\r\n'],
    ['HTTP/0.9', '<html>hello</html>'],
    ['two different lengths', `${HEAD}Content-Length: 5\r\nContent-Length: 6\r\n\r\nwhole!`],
    ['endless headers', `${HEAD}${'X-More: 1\r\n'.repeat(20_000)}`],
  ]
  it.each(refused)('%s is malformed_http, not the network’s fault', async (_title, bytes) => {
    const { origin } = await server(Buffer.from(bytes, 'latin1'))
    expect((await fails(get(`${origin}/`))).code).toMatch(/^malformed_http$/)
  })
})

describe('a body without measure', () => {
  it('that never ends is cut at the cap and its connection closed', async () => {
    const { origin, open } = await server((socket) => {
      socket.write(`${HEAD}\r\n`)
      const more = () => socket.write(Buffer.alloc(65_536, 'a'), (error) => error || setImmediate(more))
      more()
    })
    const fetched = await get(`${origin}/`)
    expect(fetched.truncated).toBe('cap')
    expect(fetched.body).toHaveLength(1_000_000)
    await expect.poll(open).toBe(0)
  })

  it('that decompresses to gigabytes is cut at the cap after decoding, early and in little memory', async () => {
    const bomb = zlib.gzipSync(Buffer.alloc(50_000_000))
    const { origin } = await server(answer(bomb, { 'Content-Encoding': 'gzip' }))
    const fetched = await get(`${origin}/`)
    expect(fetched).toMatchObject({ truncated: 'cap', wireBytes: bomb.length })
    expect(fetched.body).toHaveLength(1_000_000)
  })

  it('that is compressed and never ends is stopped once the decoded part passes the cap', async () => {
    const { origin, open } = await server((socket) => {
      socket.write(`${HEAD}Content-Encoding: gzip\r\n\r\n`)
      const endless = zlib.createGzip({ level: 0 })
      endless.on('data', (chunk) => socket.writable && socket.write(chunk))
      const more = () => endless.write(Buffer.alloc(65_536, 'a'), () => socket.writable && setImmediate(more))
      more()
    })
    const fetched = await get(`${origin}/`)
    expect(fetched.truncated).toBe('cap')
    expect(fetched.wireBytes).toBeLessThan(3_000_000)
    await expect.poll(open).toBe(0)
  })

  it('that is compressed and breaks in the middle ends there, flagged, though the server goes on', async () => {
    const flushed = zlib.gzipSync(randomBytes(300_000), { finishFlush: zlib.constants.Z_SYNC_FLUSH })
    // No block of deflate begins so.
    const wire = Buffer.concat([flushed, Buffer.alloc(300_000, 0xff)])
    const { origin, open } = await server((socket) =>
      socket.write(Buffer.concat([Buffer.from(`${HEAD}Content-Encoding: gzip\r\n\r\n`), wire])),
    )
    const fetched = await get(`${origin}/`)
    expect(fetched.truncated).toBe('cut')
    expect(fetched.body.length).toBeGreaterThan(290_000)
    await expect.poll(open).toBe(0)
  })

  it('has the request’s own cap where it gives one, prefix kept', async () => {
    const { origin } = await server(answer(TEXT))
    const fetched = await get(`${origin}/`, { maxBytes: 10 })
    expect([fetched.truncated, fetched.body.toString()]).toEqual(['cap', TEXT.slice(0, 10)])
  })

  it('exactly as long as the cap is whole', async () => {
    const { origin } = await server((socket, head) =>
      socket.write(
        head.includes('gz') ? answer(zlib.gzipSync(TEXT), { 'Content-Encoding': 'gzip' }) : answer(TEXT),
      ),
    )
    for (const path of ['plain', 'gz']) {
      const fetched = await get(`${origin}/${path}`, { maxBytes: TEXT.length })
      expect([fetched.truncated, fetched.body.length]).toEqual([null, TEXT.length])
    }
  })
})

describe('time', () => {
  it('without a byte of headers ends in timeout_headers', async () => {
    const { origin } = await server(() => {})
    expect((await fails(get(`${origin}/`, {}, fetcher({ readTimeoutMs: 200 })))).code).toBe('timeout_headers')
  })

  it('without a further byte of the body ends in timeout_idle', async () => {
    const { origin } = await server((socket) => socket.write(`${HEAD}Content-Length: 100\r\n\r\nabc`))
    expect((await fails(get(`${origin}/`, {}, fetcher({ readTimeoutMs: 200 })))).code).toBe('timeout_idle')
  })

  it('of a body that drips byte by byte is up at the total deadline', async () => {
    const { origin, open } = await server((socket) => {
      socket.write(`${HEAD}Content-Length: 100000\r\n\r\n`)
      const drip = setInterval(() => socket.write('a'), 20)
      socket.on('close', () => clearInterval(drip))
    })
    const failure = await fails(get(`${origin}/`, {}, fetcher({ totalTimeoutMs: 400 })))
    expect([failure.code, failure.answer.status]).toEqual(['timeout_total', 200])
    await expect.poll(open).toBe(0)
  })

  it('of a chain of slow redirects counts as one', async () => {
    const { origin } = await server((socket, _head, count) => {
      const next = setTimeout(() => socket.write(answer('', { Location: `/${count}` }, 302)), 150)
      socket.on('close', () => clearTimeout(next))
    })
    const slow = fetcher({ totalTimeoutMs: 400, maxRedirects: 50 })
    expect((await fails(get(`${origin}/`, {}, slow))).code).toBe('timeout_total')
  })

  it('to connect is bounded, the TLS handshake included', async () => {
    const { port } = await server(() => {})
    const failure = await fails(get(`https://127.0.0.1:${port}/`, {}, fetcher({ connectTimeoutMs: 200 })))
    expect(failure.code).toBe('timeout_connect')
  })

  it('to resolve a name is part of the time to connect', async () => {
    const never = fetcher({ connectTimeoutMs: 200, lookup: () => {} })
    expect((await fails(get('http://slow.example/', {}, never))).code).toBe('timeout_connect')
  })

  it('ends at once for who is told to stop, before, while connecting and while reading', async () => {
    const { origin, requests, open } = await server((socket) =>
      socket.write(`${HEAD}Content-Length: 9\r\n\r\na`),
    )
    expect((await fails(get(`${origin}/`, { signal: AbortSignal.abort() }))).code).toBe('aborted')
    expect(requests).toHaveLength(0)

    const connecting = new AbortController()
    const stuck = fails(
      get('http://stuck.example/', { signal: connecting.signal }, fetcher({ lookup: () => {} })),
    )
    connecting.abort()
    expect((await stuck).code).toBe('aborted')

    const reading = new AbortController()
    const read = fails(get(`${origin}/`, { signal: reading.signal }))
    await expect.poll(() => requests.length).toBe(1)
    reading.abort()
    expect((await read).code).toBe('aborted')
    await expect.poll(open).toBe(0)
  })
})

it('a request given up before its connection stands is never sent', async () => {
  const { port, requests, connections } = await server((socket) => socket.write(answer('x')))
  const found: (() => void)[] = []
  const late = fetcher({
    lookup: (_host, _options, done) => found.push(() => done(null, [{ address: '127.0.0.1', family: 4 }])),
  })
  const given = new AbortController()
  const failing = fails(get(`http://late.example:${port}/given-up`, { signal: given.signal }, late))
  given.abort()
  expect((await failing).code).toBe('aborted')
  found.shift()!()
  await expect.poll(connections).toBe(1)
  const next = get(`http://late.example:${port}/next`, {}, late)
  await expect.poll(() => found.shift()?.() ?? requests.length).toBe(1)
  expect((await next).status).toBe(200)
  expect(requests.map((head) => head.split(' ')[1])).toEqual(['/next'])
})

describe('no answer', () => {
  it('is classed by what was missing', async () => {
    const { origin } = await server((socket) => socket.resetAndDestroy())
    expect((await fails(get(`${origin}/`))).code).toBe('reset')
    const half = await server(`${HEAD}Content-Le`)
    expect((await fails(get(`${half.origin}/`))).code).toBe('reset')
    expect((await fails(get('http://127.0.0.1:1/'))).code).toBe('connect')
    const nowhere = fetcher({
      lookup: (host, _options, done) =>
        done(Object.assign(new Error(`no ${host}`), { code: 'ENOTFOUND', syscall: 'getaddrinfo' }), []),
    })
    expect((await fails(get('http://nowhere.example/', {}, nowhere))).code).toBe('dns')
    expect((await fails(get('ftp://127.0.0.1/'))).code).toBe('bad_scheme')
    expect((await fails(get('http://['))).code).toBe('bad_request')
    expect((await fails(get(`${origin}/`, { headers: { 'X-Line': 'a\r\nb' } }))).code).toBe('bad_request')
  })

  it('over TLS from a server that speaks none, or hangs up, is tls', async () => {
    for (const reply of ['HTTP/1.1 400 Bad Request\r\n\r\n', '']) {
      const plain = net.createServer((socket) =>
        socket.on('error', () => {}).once('data', () => socket.end(reply)),
      )
      plain.listen(0, '127.0.0.1')
      await once(plain, 'listening')
      const { port } = plain.address() as AddressInfo
      expect((await fails(get(`https://127.0.0.1:${port}/`))).code).toBe('tls')
      plain.close()
    }
  })

  it('for a body reset in the middle still gives what came, flagged', async () => {
    const { origin } = await server((socket) =>
      socket.write(`${HEAD}Content-Length: 100\r\n\r\nabc`, () =>
        setImmediate(() => socket.resetAndDestroy()),
      ),
    )
    const fetched = await get(`${origin}/`)
    expect([fetched.truncated, fetched.body.toString()]).toEqual(['cut', 'abc'])
  })
})

describe('a type that is not wanted', () => {
  it('fails with its status and type, the body unread', async () => {
    const { origin, open } = await server((socket) =>
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nContent-Length: 99999999\r\n\r\nabc'),
    )
    const failure = await fails(get(`${origin}/`, { accept: (type) => type === 'text/html' }))
    expect(failure).toMatchObject({
      code: 'type',
      answer: { status: 200, contentType: 'video/mp4', finalUrl: `${origin}/` },
    })
    await expect.poll(open).toBe(0)
  })

  it('of an error page leaves the status to speak', async () => {
    const { origin } = await server(answer('{}', { 'Content-Type': 'application/json' }, 404))
    expect(await get(`${origin}/`, { accept: () => false })).toMatchObject({
      status: 404,
      body: Buffer.alloc(0),
    })
  })
})
