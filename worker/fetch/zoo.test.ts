import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import tls from 'node:tls'
import { promisify } from 'node:util'
import zlib from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { childEnv } from '../../core/env'
import { undoesZstd } from './content-codings'
import { FetchFailure } from './failure'
import { createFetcher } from './fetcher'
import { answer, oracleServer } from './oracle-server'

/** Servers as they are out there, one exhibit a row, with what a fetch must make of it. */
const fetcher = createFetcher({
  userAgent: 'Zoo/1',
  connectTimeoutMs: 1000,
  readTimeoutMs: 500,
  totalTimeoutMs: 3000,
  maxRedirects: 5,
  maxBytes: 1_000_000,
})
afterAll(() => fetcher.close())
const get = (url: string) =>
  fetcher.fetch(url, { allowPrivate: true, headers: {}, signal: new AbortController().signal })

const TEXT = `<html>${'The zoo has a great many animals. '.repeat(300)}</html>`
const gzip = zlib.gzipSync(TEXT)
const deflate = zlib.deflateSync(TEXT)
const coded = (body: Buffer, coding: string) => answer(body, { 'Content-Encoding': coding })
const H = 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n'
const twice = (body: Buffer) => zlib.gzipSync(body)

interface Expected {
  text?: string
  truncated?: 'cut' | 'cap' | null
  lenient?: boolean
}
const EXHIBITS: [string, Buffer | string, Expected][] = [
  ['gzip', coded(gzip, 'gzip'), {}],
  ['x-gzip in upper case', coded(gzip, 'X-GZIP'), {}],
  ['deflate as zlib', coded(deflate, 'deflate'), {}],
  ['deflate as raw data', coded(zlib.deflateRawSync(TEXT), 'deflate'), {}],
  ['brotli', coded(zlib.brotliCompressSync(TEXT), 'br'), {}],
  [
    'gzip in two members',
    coded(Buffer.concat([zlib.gzipSync(TEXT.slice(0, 99)), zlib.gzipSync(TEXT.slice(99))]), 'gzip'),
    {},
  ],
  ['gzip with garbage behind', coded(Buffer.concat([gzip, Buffer.from('garbage')]), 'gzip'), {}],
  ['deflate with garbage behind', coded(Buffer.concat([deflate, Buffer.from('\0\0')]), 'deflate'), {}],
  ['gzip cut off', coded(gzip.subarray(0, -40), 'gzip'), { truncated: 'cut' }],
  ['brotli cut off', coded(zlib.brotliCompressSync(TEXT).subarray(0, -4), 'br'), { truncated: 'cut' }],
  ['raw deflate cut off', coded(zlib.deflateRawSync(TEXT).subarray(0, -8), 'deflate'), { truncated: 'cut' }],
  ['gzip called deflate', coded(gzip, 'deflate'), {}],
  ['gzip called brotli', coded(gzip, 'br'), {}],
  ['deflate called gzip', coded(deflate, 'gzip'), {}],
  ['plain called gzip', answer(TEXT, { 'Content-Encoding': 'gzip' }), {}],
  ['plain called brotli', answer(TEXT, { 'Content-Encoding': 'br' }), {}],
  ['plain called deflate', answer(TEXT, { 'Content-Encoding': 'deflate' }), {}],
  ['gzip twice, said once', coded(twice(gzip), 'gzip'), {}],
  ['gzip twice, said twice', coded(twice(gzip), 'gzip, gzip'), {}],
  ['brotli in gzip', coded(zlib.gzipSync(zlib.brotliCompressSync(TEXT)), 'br, gzip'), {}],
  ['gzip five times', coded([1, 2, 3, 4].reduce(twice, gzip), 'gzip,gzip,gzip,gzip,gzip'), {}],
  ['gzip of nothing', coded(Buffer.alloc(0), 'gzip'), { text: '' }],
  [
    'a header without a colon',
    `${H}Nonsense\r\nContent-Length: 5\r\n\r\nwhole`,
    { text: 'whole', lenient: true },
  ],
  [
    'bare line feeds',
    `${H}Content-Length: 5\r\n\r\nwhole`.replaceAll('\r', ''),
    { text: 'whole', lenient: true },
  ],
  ['an unasked 100', `HTTP/1.1 100 Continue\r\n\r\n${H}Content-Length: 5\r\n\r\nwhole`, { text: 'whole' }],
  [
    'chunked in capitals, twice',
    `${H}Transfer-Encoding: Chunked\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nwhole\r\n0\r\n\r\n`,
    { text: 'whole' },
  ],
  [
    'a chunk that is cut off',
    `${H}Transfer-Encoding: chunked\r\n\r\nff\r\nwhole`,
    { text: 'whole', truncated: 'cut' },
  ],
]

describe('what is read', () => {
  it.each(EXHIBITS)('%s', async (_title, bytes, { text = TEXT, truncated = null, lenient }) => {
    const server = await oracleServer((socket) => socket.end(bytes))
    const fetched = await get(`${server.origin}/`)
    if (truncated === 'cut') expect(text.startsWith(fetched.body.toString())).toBe(true)
    else expect(fetched.body.toString()).toBe(text)
    expect(fetched.truncated).toBe(truncated)
    if (lenient !== undefined) expect(fetched.lenient).toBe(lenient)
    await server.close()
  })

  it('zstd, where Node can; elsewhere a class of its own', async () => {
    const frame = Buffer.concat([Buffer.from('28b52ffd2005290000', 'hex'), Buffer.from('whole')])
    const server = await oracleServer((socket) => socket.end(coded(frame, 'zstd')))
    const fetched = get(`${server.origin}/`)
    if (undoesZstd) expect((await fetched).body.toString()).toBe('whole')
    else await expect(fetched).rejects.toMatchObject({ code: 'coding' })
    expect(server.requests[0]?.includes('zstd')).toBe(undoesZstd)
    await server.close()
  })
})

describe('TLS', () => {
  let folder: string
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
  /** A certificate of our own authority, valid for so many days. */
  const issue = (name: string, subject: string, days: string) => {
    openssl(
      'req',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.csr`,
      '-subj',
      `/CN=${subject}`,
    )
    const alternative = subject === '127.0.0.1' ? `IP:${subject}` : `DNS:${subject}`
    execFileSync('sh', ['-c', `echo subjectAltName=${alternative} > ${name}.ext`], { cwd: folder })
    openssl(
      'x509',
      '-req',
      '-in',
      `${name}.csr`,
      '-CA',
      'ca.pem',
      '-CAkey',
      'ca.key',
      '-CAcreateserial',
      '-days',
      days,
      '-extfile',
      `${name}.ext`,
      '-out',
      `${name}.pem`,
    )
  }
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'orbweaver-tls-'))
    openssl(
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-keyout',
      'ca.key',
      '-out',
      'ca.pem',
      '-days',
      '2',
      '-subj',
      '/CN=Zoo',
    )
    issue('good', '127.0.0.1', '2')
    issue('other', 'other.example', '2')
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const serve = async (name: string) => {
    const file = (kind: string) => readFileSync(join(folder, `${name}.${kind}`))
    const server = tls.createServer({ key: file('key'), cert: file('pem') }, (socket) => {
      socket.on('error', () => {})
      socket.end(answer('secure'))
    })
    server.on('tlsClientError', () => {})
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return {
      url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      close: () => server.close(),
    }
  }

  it.each([
    ['good', 'an authority that nobody knows'],
    ['other', 'another name'],
  ])('a certificate (%s) of %s is refused as tls', async (name) => {
    const server = await serve(name)
    const failure = await get(server.url).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(FetchFailure)
    expect((failure as FetchFailure).code).toBe('tls')
    server.close()
  })

  it('a certificate of an authority that the machine knows is accepted', async () => {
    const server = await serve('good')
    // The authorities are read when a process starts, so it takes one of its own.
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['cli/start.mjs', 'fetch', server.url, '--allow-private', '--ignore-robots', '--text'],
      {
        env: childEnv({ NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') }),
        timeout: 30_000,
      },
    )
    expect(JSON.parse(stdout)).toMatchObject({ status: 200, text: 'secure' })
    server.close()
  })

  it('a server that speaks plain HTTP on an https port is refused as tls', async () => {
    const server = await oracleServer((socket) => socket.end(answer('plain')))
    await expect(get(`https://127.0.0.1:${server.port}/`)).rejects.toMatchObject({
      code: expect.stringMatching(/^(tls|timeout_connect)$/),
    })
    await server.close()
  })
})
