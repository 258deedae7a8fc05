import { randomBytes } from 'node:crypto'
import zlib from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { BodyReader, type DecodedBody } from './decode-body'

const TEXT = Buffer.from(`<html>${'The manual of the manual. '.repeat(400)}</html>`)
/** Hardly compressible, so that it takes the long way. */
const LONG = Buffer.concat([Buffer.from('<html>'), Buffer.from(randomBytes(300_000).toString('base64'))])

interface Options {
  codings?: string[]
  cap?: number
  cut?: boolean
  /** Bytes a write; all at once when absent. */
  step?: number
}

async function decode(
  wire: Buffer,
  { codings = ['gzip'], cap = 10_000_000, cut = false, step }: Options = {},
) {
  let stopped = false
  let go: () => void = () => {}
  let answer: Promise<DecodedBody> | null = null
  const reader = new BodyReader(codings, cap, {
    stop: () => {
      stopped = true
      answer = reader.end(false)
      go()
    },
    resume: () => go(),
  })
  for (let at = 0; at < wire.length && !stopped; at += step ?? wire.length) {
    const ready = new Promise<void>((resolve) => {
      go = resolve
    })
    if (!reader.write(wire.subarray(at, at + (step ?? wire.length)))) await ready
  }
  const { body, truncated } = await (answer ?? reader.end(cut))
  return { body, truncated, stopped, wireBytes: reader.wireBytes }
}

const whole = { truncated: null, stopped: false }
const named = (bytes: Buffer, name: string) => {
  const gzip = zlib.gzipSync(bytes)
  gzip[3] = 8 | 16 | 4 | 2
  const extra = Buffer.concat([
    Buffer.from([3, 0]),
    Buffer.from('abc'),
    Buffer.from(`${name}\0comment\0`),
    Buffer.from([1, 2]),
  ])
  return Buffer.concat([gzip.subarray(0, 10), extra, gzip.subarray(10)])
}
const badSum = (bytes: Buffer) => {
  const gzip = zlib.gzipSync(bytes)
  gzip.writeUInt32LE(1, gzip.length - 8)
  return gzip
}

const cases: [string, string[], (bytes: Buffer) => Buffer][] = [
  ['plain', [], (bytes) => bytes],
  ['gzip', ['gzip'], zlib.gzipSync],
  ['x-gzip', ['x-gzip'], zlib.gzipSync],
  ['deflate with zlib’s frame', ['deflate'], zlib.deflateSync],
  ['bare deflate', ['deflate'], zlib.deflateRawSync],
  [
    'br',
    ['br'],
    (bytes) => zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } }),
  ],
  ['gzip within br', ['gzip', 'br'], (bytes) => zlib.brotliCompressSync(zlib.gzipSync(bytes))],
  ['gzip twice, said twice', ['gzip', 'gzip'], (bytes) => zlib.gzipSync(zlib.gzipSync(bytes))],
  ['gzip twice, said once', ['gzip'], (bytes) => zlib.gzipSync(zlib.gzipSync(bytes))],
  ['gzip said twice, done once', ['gzip', 'gzip'], zlib.gzipSync],
  ['gzip that is plain', ['gzip'], (bytes) => bytes],
  ['deflate that is plain', ['deflate'], (bytes) => bytes],
  ['br that is plain', ['br'], (bytes) => bytes],
  [
    'gzip and trailing garbage',
    ['gzip'],
    (bytes) => Buffer.concat([zlib.gzipSync(bytes), Buffer.from('garbage')]),
  ],
  ['gzip and trailing zeros', ['gzip'], (bytes) => Buffer.concat([zlib.gzipSync(bytes), Buffer.alloc(2000)])],
  [
    'deflate and trailing garbage',
    ['deflate'],
    (bytes) => Buffer.concat([zlib.deflateSync(bytes), randomBytes(20_000)]),
  ],
  [
    'bare deflate and trailing garbage',
    ['deflate'],
    (bytes) => Buffer.concat([zlib.deflateRawSync(bytes), randomBytes(20_000)]),
  ],
  [
    'br and trailing garbage',
    ['br'],
    (bytes) => Buffer.concat([zlib.brotliCompressSync(bytes), randomBytes(20_000)]),
  ],
  [
    'gzip in two members',
    ['gzip'],
    (bytes) => Buffer.concat([zlib.gzipSync(bytes.subarray(0, 50)), zlib.gzipSync(bytes.subarray(50))]),
  ],
  ['gzip with every optional field', ['gzip'], (bytes) => named(bytes, 'index.html')],
  ['gzip with a wrong checksum', ['gzip'], badSum],
  ['gzip without its trailer', ['gzip'], (bytes) => zlib.gzipSync(bytes).subarray(0, -8)],
  ['a coding nobody knows', ['zstd'], (bytes) => bytes],
]

describe.each(cases)('%s', (_title, codings, encode) => {
  it.each([
    ['short', TEXT, undefined],
    ['short, in pieces', TEXT, 7],
    ['long', LONG, undefined],
    ['long, in pieces', LONG, 1460],
  ] as const)('%s', async (_kind, bytes, step) => {
    const decoded = await decode(encode(bytes), { codings, step })
    expect(decoded).toMatchObject(whole)
    expect(decoded.body.equals(bytes)).toBe(true)
  })
})

it.each(['gzip', 'deflate', 'br'])('an empty body said to be %s is empty', async (coding) => {
  expect(await decode(Buffer.alloc(0), { codings: [coding] })).toMatchObject({
    ...whole,
    body: Buffer.alloc(0),
  })
})

describe('cut off', () => {
  const long = Buffer.from(Array.from({ length: 20_000 }, (_, index) => `line ${index * 7919}\n`).join(''))
  it.each([
    ['gzip', zlib.gzipSync],
    ['deflate', zlib.deflateSync],
    ['deflate', zlib.deflateRawSync],
    ['br', zlib.brotliCompressSync],
  ] as const)('%s gives its prefix, flagged', async (coding, encode) => {
    for (const bytes of [TEXT, long]) {
      const wire = encode(bytes)
      const { body, truncated } = await decode(wire.subarray(0, wire.length - 12), {
        codings: [coding],
        cut: true,
      })
      expect(truncated).toBe('cut')
      expect(bytes.subarray(0, body.length).equals(body)).toBe(true)
      if (bytes === long) expect(body.length).toBeGreaterThan(long.length * 0.8)
    }
  })

  it('and broken in the middle gives what came before, flagged', async () => {
    const flushed = zlib.gzipSync(LONG, { finishFlush: zlib.constants.Z_SYNC_FLUSH })
    // No block of deflate begins so.
    const { body, truncated } = await decode(Buffer.concat([flushed, Buffer.alloc(5000, 0xff)]))
    expect(truncated).toBe('cut')
    expect(body.length).toBeGreaterThan(LONG.length - 20_000)
    expect(LONG.subarray(0, body.length).equals(body)).toBe(true)
  })

  it('within the gzip header gives nothing, flagged', async () => {
    for (const length of [4, 11, 17]) {
      const { body, truncated } = await decode(named(TEXT, 'name').subarray(0, length), { cut: true })
      expect([body.length, truncated]).toEqual([0, 'cut'])
    }
  })

  it('by the connection, where the compressed data was whole, is whole', async () => {
    expect(await decode(zlib.gzipSync(TEXT), { cut: true })).toMatchObject({ body: TEXT, truncated: null })
    expect(await decode(TEXT, { cut: true })).toMatchObject({ body: TEXT, truncated: 'cut' })
  })
})

describe('the cap', () => {
  it.each([
    ['gzip', zlib.gzipSync(Buffer.alloc(60_000_000))],
    ['deflate', zlib.deflateRawSync(Buffer.alloc(60_000_000))],
    [
      'br',
      zlib.brotliCompressSync(Buffer.alloc(150_000_000), {
        params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 2 },
      }),
    ],
    ['gzip', zlib.gzipSync(zlib.gzipSync(Buffer.alloc(100_000_000)))],
  ])('holds against a bomb of %s, in little time and memory', async (coding, bomb) => {
    const before = process.memoryUsage()
    const started = performance.now()
    const { body, truncated } = await decode(bomb, { codings: [coding], cap: 2_000_000 })
    expect([body.length, truncated]).toEqual([2_000_000, 'cap'])
    expect(performance.now() - started).toBeLessThan(1000)
    const after = process.memoryUsage()
    expect(after.external + after.heapUsed - before.external - before.heapUsed).toBeLessThan(40_000_000)
  })

  it('stops the connection while a compressed body still comes', async () => {
    const { truncated, wireBytes, body } = await decode(zlib.gzipSync(LONG), { cap: 200_000, step: 1460 })
    expect([truncated, body.length]).toEqual(['cap', 200_000])
    expect(wireBytes).toBeLessThan(300_000)
  })

  it('counts layers in the middle too', async () => {
    const wire = zlib.gzipSync(Buffer.concat([zlib.gzipSync('small'), Buffer.alloc(50_000_000)]))
    const { truncated } = await decode(wire, { codings: ['gzip', 'gzip'], cap: 1_000_000 })
    expect(truncated).toBe('cap')
  })

  it('is not passed by a body of just that size', async () => {
    for (const bytes of [TEXT, LONG]) {
      expect(await decode(zlib.gzipSync(bytes), { cap: bytes.length })).toMatchObject(whole)
      expect(await decode(zlib.gzipSync(bytes), { cap: bytes.length - 1 })).toMatchObject({
        truncated: 'cap',
      })
    }
  })
})
