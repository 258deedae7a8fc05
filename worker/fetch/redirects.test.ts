import { afterAll, afterEach, expect, it } from 'vitest'
import { FetchFailure } from './failure'
import { createFetcher, type FetchRequest } from './fetcher'
import { answer, type OracleServer, oracleServer, type Respond } from './oracle-server'

const fetcher = createFetcher({
  userAgent: 'Oracle/1',
  connectTimeoutMs: 1000,
  readTimeoutMs: 2000,
  totalTimeoutMs: 3000,
  maxRedirects: 5,
  maxBytes: 1_000_000,
  lookup: (_host, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
})
const servers: OracleServer[] = []

async function server(respond: Respond): Promise<OracleServer> {
  const started = await oracleServer(respond)
  servers.push(started)
  return started
}
const get = (url: string, request: Partial<FetchRequest> = {}) =>
  fetcher.fetch(url, { allowPrivate: true, headers: {}, signal: new AbortController().signal, ...request })
const failureOf = (url: string, request: Partial<FetchRequest> = {}) =>
  get(url, request).then(
    () => expect.fail('was fetched'),
    (reason) => reason as FetchFailure,
  )
const pathOf = (head: string) => head.split(' ')[1]!
const to = (location: string | Buffer, status = 302) =>
  Buffer.concat([
    Buffer.from(`HTTP/1.1 ${status} Found\r\nContent-Length: 0\r\nLocation: `),
    Buffer.from(location),
    Buffer.from('\r\n\r\n'),
  ])

afterEach(() => Promise.all(servers.splice(0).map((started) => started.close())))
afterAll(() => fetcher.close())

it.each([301, 302, 303, 307, 308])('%i is followed, and every URL on the way told', async (status) => {
  const { origin } = await server((socket, head) =>
    socket.write(
      pathOf(head) === '/end' ? answer('there') : to(pathOf(head) === '/a/b' ? '../c#x' : '/end', status),
    ),
  )
  const fetched = await get(`${origin}/a/b`)
  expect(fetched).toMatchObject({
    url: `${origin}/a/b`,
    finalUrl: `${origin}/end`,
    status: 200,
    redirects: [`${origin}/a/b`, `${origin}/c`],
  })
})

it.each([
  ['none', 'HTTP/1.1 302 Found\r\nContent-Length: 1\r\n\r\nx'],
  ['an empty one', 'HTTP/1.1 302 Found\r\nLocation:\r\nContent-Length: 1\r\n\r\nx'],
  [
    'one with a status that is no redirect',
    'HTTP/1.1 300 Choices\r\nLocation: /a\r\nContent-Length: 1\r\n\r\nx',
  ],
])('with %s for Location, the answer itself is the page', async (_title, bytes) => {
  const { origin } = await server((socket) => socket.write(bytes))
  expect((await get(`${origin}/`)).body.toString()).toBe('x')
})

it('of several Locations the first that is not empty counts', async () => {
  const { origin } = await server((socket, head) =>
    socket.write(
      pathOf(head) === '/a'
        ? answer('there')
        : 'HTTP/1.1 302 Found\r\nLocation: \r\nLocation: /a\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n',
    ),
  )
  expect((await get(`${origin}/`)).finalUrl).toBe(`${origin}/a`)
})

it('bytes beyond ASCII go back to the server as it wrote them', async () => {
  const { origin, requests } = await server((socket, head) =>
    socket.write(pathOf(head) === '/' ? to(Buffer.from([0x2f, 0xc4, 0xe3])) : answer('there')),
  )
  await get(`${origin}/`)
  expect(pathOf(requests[1]!)).toBe('/%C4%E3')
})

it('a loop ends at once, a long chain at MAX_REDIRECTS', async () => {
  const { origin, requests } = await server((socket, head) => {
    const path = pathOf(head)
    socket.write(to(path === '/a' ? '/b' : path === '/b' ? '/a' : `/${Number(path.slice(1)) + 1}`))
  })
  expect((await failureOf(`${origin}/a`)).code).toBe('redirect_loop')
  expect(requests).toHaveLength(2)
  const failure = await failureOf(`${origin}/1`)
  expect(failure.code).toBe('redirect_limit')
  expect(failure.answer).toMatchObject({ status: 302, finalUrl: `${origin}/6` })
  expect(failure.answer.redirects).toHaveLength(5)
})

it.each([
  ['file:///etc/passwd', 'bad_scheme'],
  ['ftp://example.com/', 'bad_scheme'],
  ['javascript:alert(1)', 'bad_scheme'],
  ['http://[', 'bad_redirect'],
])('to %s is refused as %s', async (location, code) => {
  const { origin } = await server((socket) => socket.write(to(location)))
  expect((await failureOf(`${origin}/`)).code).toBe(code)
})

it('each hop is asked for; a refused one is never fetched, and the reason may be the asker’s', async () => {
  const { origin, requests } = await server((socket) => socket.write(to('/next')))
  const asked: string[] = []
  const failure = await failureOf(`${origin}/`, {
    redirectAllowed: async (url) => {
      asked.push(url)
      return false
    },
  })
  expect([failure.code, asked, requests.length]).toEqual(['redirect_scope', [`${origin}/next`], 1])
  const robots = await failureOf(`${origin}/`, {
    redirectAllowed: () => {
      throw new FetchFailure('robots', 'no')
    },
  })
  expect(robots.code).toBe('robots')
})

it('to another origin loses the spider’s headers, credentials and custom ones alike, and gets none from the URL', async () => {
  const other = await server((socket) => socket.write(answer('there')))
  const { origin, port, requests } = await server((socket, head) =>
    socket.write(
      pathOf(head) === '/'
        ? to('/same')
        : to(pathOf(head) === '/same' ? `http://user:pass@127.0.0.1:${other.port}/` : '/'),
    ),
  )
  const headers = { Authorization: 'Bearer t', Cookie: 'a=b', 'X-Api-Key': 'k', 'Accept-Language': 'zh' }
  await get(`${origin}/`, { headers })
  expect(requests[1]).toMatch(/authorization: Bearer t[\s\S]*cookie: a=b[\s\S]*x-api-key: k/)
  expect(other.requests[0]).not.toMatch(/authorization|cookie|x-api-key/i)
  expect(other.requests[0]).toContain('accept-language: zh')
  // Another name for the same server is another origin too.
  await get(`http://localhost:${port}/same`, { headers })
  expect(other.requests[1]).not.toMatch(/authorization|cookie|x-api-key/i)
})

it('back from another origin it still goes without the spider’s headers', async () => {
  const other = await server((socket, _head, count) =>
    socket.write(count === 0 ? to(`${origin}/back`) : answer('x')),
  )
  const { origin, requests } = await server((socket, head) =>
    socket.write(pathOf(head) === '/' ? to(`${other.origin}/`) : answer('there')),
  )
  await get(`${origin}/`, { headers: { Authorization: 'Bearer t', 'X-Api-Key': 'k' } })
  expect(requests[0]).toMatch(/authorization: Bearer t/)
  expect(pathOf(requests[1]!)).toBe('/back')
  expect(requests[1]).not.toMatch(/authorization|x-api-key/i)
})

it('a short body of a redirect is read, so that the connection goes on', async () => {
  const { origin, connections } = await server((socket, head) => {
    const count = Number(pathOf(head).slice(1))
    socket.write(count < 5 ? answer('moved', { Location: `/${count + 1}` }, 302) : answer('there'))
  })
  expect((await get(`${origin}/0`)).redirects).toHaveLength(5)
  expect(connections()).toBeLessThanOrEqual(2)
})

it('a long body of a redirect is not read', async () => {
  const { origin } = await server((socket, head) => {
    if (pathOf(head) === '/')
      socket.write(`HTTP/1.1 302 F\r\nLocation: /a\r\nContent-Length: 99999999\r\n\r\n${'a'.repeat(200_000)}`)
    else socket.write(answer('there'))
  })
  expect((await get(`${origin}/`)).body.toString()).toBe('there')
})
