import { afterAll, afterEach, expect, it } from 'vitest'
import { Cookies } from './cookies'
import { createFetcher } from './fetch/fetcher'
import { answer, type OracleServer, oracleServer, type Respond } from './fetch/oracle-server'

const fetcher = createFetcher({
  userAgent: 'Oracle/1',
  connectTimeoutMs: 1000,
  readTimeoutMs: 1000,
  totalTimeoutMs: 3000,
  maxRedirects: 5,
  maxBytes: 1_000_000,
  // Every name is this machine.
  lookup: (_host, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
})
const servers: OracleServer[] = []
const serve = async (respond: Respond) => {
  const started = await oracleServer(respond)
  servers.push(started)
  return started
}
afterEach(() => Promise.all(servers.splice(0).map((started) => started.close())))
afterAll(() => fetcher.close())

const cookiesOf = (head: string | undefined) => /^cookie: (.*)$/im.exec(head ?? '')?.[1] ?? ''
const get = (url: string, cookies: Cookies, run = 1, headers = {}) =>
  fetcher.fetch(url, {
    allowPrivate: true,
    headers,
    signal: new AbortController().signal,
    cookies: cookies.of(run),
  })

it('a page that redirects to itself until it sees its cookie is fetched', async () => {
  const { origin } = await serve((socket, head) =>
    socket.write(
      cookiesOf(head).includes('seen=1')
        ? answer('there')
        : head.startsWith('GET /set')
          ? answer('', { Location: '/a', 'Set-Cookie': 'seen=1; Path=/' }, 302)
          : answer('', { Location: '/set' }, 302),
    ),
  )
  expect((await get(`${origin}/a`, new Cookies())).redirects).toEqual([`${origin}/a`, `${origin}/set`])
})

it('a page that redirects to itself with the same cookie is a loop', async () => {
  const { origin } = await serve((socket) =>
    socket.write(answer('', { Location: '/a', 'Set-Cookie': 'x=1' }, 302)),
  )
  await expect(get(`${origin}/a`, new Cookies())).rejects.toMatchObject({ code: 'redirect_loop' })
})

it('cookies belong to a run and to the site that set them, on every port, and not to a public suffix', async () => {
  const { port, requests } = await serve((socket) =>
    socket.write(
      Buffer.from(
        [
          'HTTP/1.1 200 OK',
          'Content-Length: 0',
          'Set-Cookie: a=1; Path=/',
          'Set-Cookie: b=2; Domain=shop.example; Path=/',
          'Set-Cookie: c=3; Domain=other.example; Path=/',
          'Set-Cookie: d=4; Domain=co.uk; Path=/',
          'Set-Cookie: e=5; Path=/elsewhere',
          'Set-Cookie: f=6; Max-Age=0; Path=/',
          'Set-Cookie: g=7; Secure; Path=/',
          'Set-Cookie: h="a b"; Expires=Wed, 01 Jan 2098 00:00:00 GMT; Path=/',
          '',
          '',
        ].join('\r\n'),
      ),
    ),
  )
  const cookies = new Cookies()
  await get(`http://www.shop.example:${port}/`, cookies)
  const sent = async (host: string, run = 1) => {
    await get(`http://${host}:${port}/`, cookies, run)
    return cookiesOf(requests.at(-1)).split('; ').sort().join(' ')
  }
  expect(cookiesOf(requests[0])).toBe('')
  expect(await sent('www.shop.example')).toBe('a=1 b=2 h="a b"')
  expect(await sent('api.shop.example')).toBe('b=2')
  expect(await sent('other.example')).toBe('')
  expect(await sent('www.shop.example', 2)).toBe('')
  expect(await sent('x.co.uk')).toBe('')
  expect(await sent('y.co.uk')).toBe('')
})

it('go beside the spider’s own cookie, and to another origin alone', async () => {
  const other = await serve((socket) => socket.write(answer('there')))
  const { port, requests } = await serve((socket, _head, count) =>
    socket.write(
      count === 0
        ? answer('', { 'Set-Cookie': 'jar=1; Path=/' })
        : answer('', { Location: `http://b.shop.example:${other.port}/` }, 302),
    ),
  )
  const cookies = new Cookies()
  const url = `http://a.shop.example:${port}/`
  await get(url, cookies)
  await get(url, cookies, 1, { Cookie: 'own=1' })
  expect(cookiesOf(requests[1])).toBe('own=1; jar=1')
  expect(cookiesOf(other.requests[0])).toBe('')
})
