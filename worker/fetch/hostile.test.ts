import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import zlib from 'node:zlib'
import { expect, it } from 'vitest'
import { FetchFailure } from './failure'
import { createFetcher } from './fetcher'

const MAX_BYTES = 20_000
const gzip = zlib.gzipSync('hello '.repeat(5000))
const ANSWERS = [
  'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwhole',
  'HTTP/1.1 103 A\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nwhole\r\n3;x=y\r\nabc\r\n0\r\nX: y\r\n\r\n',
  'HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n',
  'HTTP/1.1 204 None\r\n\r\n',
  'HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nabc',
  'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nKeep-Alive: timeout=0\r\n\r\nx',
  `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${gzip.length}\r\n\r\n${gzip.toString('latin1')}`,
].map((text) => Buffer.from(text, 'latin1'))
const PIECES = [
  '\r\n',
  '\n',
  '\0',
  ' ',
  'HTTP/1.1 200 OK\r\n',
  'Content-Length: 7\r\n',
  '9'.repeat(25),
  '0\r\n\r\n',
  'Connection: close\r\n',
]

/** Numbers below `limit`, the same in every run. */
function dice(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
    return (state >>> 8) % limit
  }
}

function mutate(answer: Buffer, roll: (limit: number) => number): Buffer {
  let bytes = Buffer.from(answer)
  for (let times = roll(5); times > 0; times--) {
    const at = roll(bytes.length)
    const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)]
    const kind = roll(5)
    if (kind === 0) bytes[at] = roll(256)
    else if (kind === 1) bytes = Buffer.concat([before, after.subarray(roll(8))])
    else if (kind === 2) bytes = Buffer.concat([before, Buffer.from(PIECES[roll(PIECES.length)]!), after])
    else if (kind === 3) bytes = Buffer.concat([before, before])
    else bytes = Buffer.concat([bytes, ANSWERS[roll(ANSWERS.length)]!])
    if (bytes.length === 0) bytes = Buffer.from('x')
  }
  return bytes
}

it('whatever a server sends, there is a page within the cap or a classed failure, and nothing escapes', async () => {
  const roll = dice(20_240_229)
  const server = net.createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', () => {
      const bytes = mutate(ANSWERS[roll(ANSWERS.length)]!, roll)
      const middle = roll(bytes.length)
      const end = roll(8)
      socket.write(bytes.subarray(0, middle))
      setImmediate(() => {
        if (end === 0) return socket.resetAndDestroy()
        socket.write(bytes.subarray(middle))
        if (end > 1) socket.end()
      })
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const fetcher = createFetcher({
    userAgent: 'Oracle/1',
    connectTimeoutMs: 1000,
    readTimeoutMs: 100,
    totalTimeoutMs: 500,
    maxRedirects: 4,
    maxBytes: MAX_BYTES,
  })
  const codes = new Set<string>()
  let count = 0
  const visitor = async () => {
    while (count++ < 600) {
      const result = await fetcher
        .fetch(`${origin}/${count}`, {
          allowPrivate: true,
          headers: {},
          signal: new AbortController().signal,
        })
        .catch((reason: unknown) => reason)
      if (result instanceof FetchFailure) codes.add(result.code)
      else {
        expect(result).toMatchObject({ status: expect.any(Number) })
        expect((result as { body: Buffer }).body.length).toBeLessThanOrEqual(MAX_BYTES)
        codes.add('page')
      }
    }
  }
  // An uncaught exception or unhandled rejection anywhere fails the run of its own accord.
  await Promise.all(Array.from({ length: 24 }, visitor))
  expect([...codes]).toEqual(expect.arrayContaining(['page', 'malformed_http', 'reset']))
  await fetcher.close()
  server.close()
})
