import { afterAll, afterEach, expect, test } from 'vitest'
import { createFetcher } from './fetch/fetcher'
import { answer, type OracleServer, oracleServer, type Respond } from './fetch/oracle-server'
import { HostRobots } from './host-robots'

const fetcher = createFetcher({
  userAgent: 'Ours/1',
  connectTimeoutMs: 1000,
  readTimeoutMs: 300,
  totalTimeoutMs: 2000,
  maxRedirects: 10,
  maxBytes: 1000,
})
const servers: OracleServer[] = []
const serve = async (respond: Respond) => {
  const started = await oracleServer(respond)
  servers.push(started)
  return started
}
afterEach(() => Promise.all(servers.splice(0).map((started) => started.close())))
afterAll(() => fetcher.close())

const ask = (origin: string, hosts = new HostRobots(fetcher, 'Ours/1')) =>
  hosts.of(`${origin}/x`, { allowPrivate: true })
const RULES = 'User-agent: *\nDisallow: /x'

test.each([400, 401, 403, 404, 410, 429])('%i means that there is no robots.txt', async (status) => {
  const { origin } = await serve((socket) => socket.write(answer(RULES, {}, status)))
  expect((await ask(origin)).allows(`${origin}/x`)).toBe(true)
})

test.each([500, 503, 599])('%i forbids the site for now, and the next page asks again', async (status) => {
  const { origin, requests } = await serve((socket) => socket.write(answer(RULES, {}, status)))
  const hosts = new HostRobots(fetcher, 'Ours/1')
  for (let n = 0; n < 2; n++) await expect(ask(origin, hosts)).rejects.toThrow(`answers ${status}`)
  expect(requests).toHaveLength(2)
})

test('a server that does not answer forbids the site for now', async () => {
  const { origin } = await serve(() => {})
  await expect(ask(origin)).rejects.toMatchObject({ code: 'timeout_headers' })
})

test.each([
  [5, false],
  [6, true],
])('after %i redirects everything is allowed: %s', async (redirects, allowed) => {
  const { origin } = await serve((socket, _head, count) =>
    socket.write(count < redirects ? answer('', { Location: `/hop${count}` }, 302) : answer(RULES)),
  )
  expect((await ask(origin)).allows(`${origin}/x`)).toBe(allowed)
})

test('500 KiB are read, and a rule within them counts', async () => {
  const { origin } = await serve((socket) =>
    socket.write(answer(`${'# filler\n'.repeat(50_000)}${RULES}\n${'#'.repeat(200_000)}`)),
  )
  expect((await ask(origin)).allows(`${origin}/x`)).toBe(false)
})

test('a spider’s own name is asked for by that name', async () => {
  const { origin, requests } = await serve((socket) =>
    socket.write(answer('User-agent: theirs\nDisallow: /x\nUser-agent: *\nAllow: /')),
  )
  const hosts = new HostRobots(fetcher, 'Ours/1')
  const theirs = await hosts.of(`${origin}/x`, {
    allowPrivate: true,
    userAgent: 'Theirs/2 (+https://t.example)',
  })
  expect(theirs.allows(`${origin}/x`)).toBe(false)
  expect((await ask(origin, hosts)).allows(`${origin}/x`)).toBe(true)
  expect(requests.map((head) => /user-agent: (.*)/i.exec(head)?.[1])).toEqual([
    'Theirs/2 (+https://t.example)',
    'Ours/1',
  ])
})
