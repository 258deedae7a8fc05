import type { LookupAddress } from 'node:dns'
import { afterAll, afterEach, expect, it } from 'vitest'
import { isGlobalAddress } from '../../core/address-guard'
import type { FetchFailure } from './failure'
import { createFetcher, type Fetcher } from './fetcher'
import { answer, type OracleServer, oracleServer } from './oracle-server'

const open: { close(): Promise<void> }[] = []
afterEach(() => Promise.all(open.splice(0).map((part) => part.close())))
afterAll(() => Promise.all(open.map((part) => part.close())))

async function server(bytes: Buffer): Promise<OracleServer> {
  const started = await oracleServer((socket) => socket.write(bytes))
  open.push(started)
  return started
}

/** A fetcher whose resolver gives the next list of addresses at each call, the last one for ever. */
function fetcher(...answers: string[][]): { fetcher: Fetcher; lookups: () => number } {
  let lookups = 0
  const made = createFetcher({
    userAgent: 'Oracle/1',
    connectTimeoutMs: 1000,
    readTimeoutMs: 1000,
    totalTimeoutMs: 2000,
    maxRedirects: 5,
    maxBytes: 1000,
    lookup: (_host, _options, done) => {
      const addresses = answers[Math.min(lookups++, answers.length - 1)] ?? []
      done(
        null,
        addresses.map((address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 })),
      )
    },
  })
  open.push(made)
  return { fetcher: made, lookups: () => lookups }
}

const get = (from: Fetcher, url: string, allowPrivate = false) =>
  from.fetch(url, { allowPrivate, headers: {}, signal: new AbortController().signal })
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'fetched',
    (failure: FetchFailure) => failure.code,
  )

it.each([
  '8.8.8.8',
  '1.1.1.1',
  '172.15.255.255',
  '172.32.0.1',
  '192.169.0.1',
  '100.63.255.255',
  '100.128.0.1',
  '198.17.0.1',
  '198.20.0.1',
  '223.255.255.255',
  '2606:4700::1111',
  '2a00:1450:4001:80e::200e',
  '::ffff:8.8.8.8',
])('%s is global', (address) => {
  expect(isGlobalAddress(address)).toBe(true)
})

it.each([
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '100.64.0.1',
  '100.127.255.255',
  '127.0.0.1',
  '127.255.255.255',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.1',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::127.0.0.1',
  '::8.8.8.8',
  '::ffff:127.0.0.1',
  '::ffff:10.0.0.1',
  '::ffff:7f00:1',
  '::ffff:0:127.0.0.1',
  '::ffff:0:8.8.8.8',
  '64:ff9b::8.8.8.8',
  '64:ff9b::127.0.0.1',
  '64:ff9b:1::a00:1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2001:20::1',
  '2002:7f00:1::',
  '3fff::1',
  '5f00::1',
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
  '4000::1',
  'e000::1',
  'not an address',
  '',
])('%s is not', (address) => {
  expect(isGlobalAddress(address)).toBe(false)
})

it.each([
  '127.0.0.1',
  '0x7f.1',
  '2130706433',
  '0177.0.0.1',
  '①②⑦.0.0.1',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '0.0.0.0',
  '[::]',
  '169.254.169.254',
])('a host written as %s is not connected to', async (host) => {
  const { port, connections } = await server(answer('secret'))
  const { fetcher: from, lookups } = fetcher(['8.8.8.8'])
  expect(await codeOf(get(from, `http://${host}:${port}/`))).toBe('private_address')
  expect([connections(), lookups()]).toEqual([0, 0])
})

it.each([[['127.0.0.1']], [['8.8.8.8', '10.0.0.1']], [['2606:4700::1111', '::1']]])(
  'a name at %j is not connected to',
  async (addresses) => {
    const { port, connections } = await server(answer('secret'))
    const failure = await get(fetcher(addresses).fetcher, `http://inside.example:${port}/`).catch(
      (reason) => reason,
    )
    expect(failure.code).toBe('private_address')
    expect(failure.detail).toContain('inside.example')
    expect(connections()).toBe(0)
  },
)

it('a name is resolved once a connection, so that it cannot change after the check', async () => {
  const { fetcher: from, lookups } = fetcher(['2001:db8::1'], ['127.0.0.1'])
  await codeOf(get(from, 'http://rebind.example:1/'))
  expect(lookups()).toBe(1)
})

it('a redirect to a private address is refused at its hop', async () => {
  const inside = await server(answer('secret'))
  const outside = await server(answer('', { Location: `http://inside.example:${inside.port}/` }, 302))
  let hop = 0
  const made = createFetcher({
    userAgent: 'Oracle/1',
    connectTimeoutMs: 1000,
    readTimeoutMs: 1000,
    totalTimeoutMs: 2000,
    maxRedirects: 5,
    maxBytes: 1000,
    lookup: (host, _options, done) => {
      hop++
      done(null, [{ address: host === 'inside.example' ? '10.0.0.1' : '127.0.0.1', family: 4 }])
    },
  })
  open.push(made)
  // The first hop is on loopback by necessity, so this is checked with leave, and then the guarded one alone.
  expect(await codeOf(get(made, `http://inside.example:${inside.port}/`))).toBe('private_address')
  expect(await codeOf(get(made, `http://outside.example:${outside.port}/`))).toBe('private_address')
  expect([hop, inside.connections()]).toEqual([2, 0])
})

it('with leave, private addresses are fetched, and leave of one request is not leave of another on the same host', async () => {
  const { origin } = await server(answer('inside'))
  const { fetcher: from } = fetcher(['127.0.0.1'])
  expect((await get(from, `${origin}/`, true)).body.toString()).toBe('inside')
  expect(await codeOf(get(from, `${origin}/`, false))).toBe('private_address')
})
