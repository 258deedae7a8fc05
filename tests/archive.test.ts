import { createReadStream } from 'node:fs'
import { mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { WARCParser, type WARCRecord } from 'warcio'
import { setEnv } from '../core/env'
import { keptPage } from '../server/api/kept-page'
import type { Context } from '../server/api/trpc'
import { base32, sha1 } from '../worker/warc/record'
import { type CrawlRig, openRig } from './crawl-rig'

let rig: CrawlRig
let folder: string
let site: Server | undefined

beforeEach(async () => {
  rig = await openRig()
  folder = await mkdtemp(join(tmpdir(), 'orbweaver-warc-'))
})
afterEach(async () => {
  await rig.close()
  await closeSite()
  await rm(folder, { recursive: true, force: true })
})

async function serve(listener: RequestListener, port = 0): Promise<string> {
  site = createServer(listener).listen(port, '127.0.0.1')
  await vi.waitUntil(() => site?.listening)
  return `http://127.0.0.1:${(site.address() as AddressInfo).port}`
}

async function closeSite(): Promise<void> {
  site?.closeAllConnections()
  await new Promise((resolve) => (site ? site.close(resolve) : resolve(null)))
  site = undefined
}

/** What the pages of the site are; `/` leads to all, `/changing` is what the test sets. */
const PAGES: Record<string, { status?: number; headers?: Record<string, string | string[]>; body: Buffer }> =
  {
    '/plain': { body: Buffer.from('<title>plain</title>') },
    '/gzip': {
      headers: { 'content-encoding': 'gzip' },
      body: Buffer.from('<title>packed</title>'.repeat(50)),
    },
    '/gbk': {
      headers: { 'content-type': 'text/html; charset=gbk' },
      body: Buffer.from([0xd6, 0xd0, 0xce, 0xc4]),
    },
    '/cookies': { headers: { 'set-cookie': ['a=1', 'b=2'] }, body: Buffer.from('two cookies') },
    '/moved': { status: 302, headers: { location: '/plain?moved' }, body: Buffer.from('over there') },
    '/plain?moved': { body: Buffer.from('<title>moved</title>') },
    '/gone': { status: 404, body: Buffer.from('not here') },
    '/empty': { body: Buffer.alloc(0) },
  }
let changing = 'first'
const home = () =>
  Buffer.from([...Object.keys(PAGES), '/changing'].map((path) => `<a href="${path}">x</a>`).join(''))
const contentOf = (path: string) =>
  path === '/' ? home() : path === '/changing' ? Buffer.from(changing) : PAGES[path]!.body

const fromPages: RequestListener = ({ url = '' }, response) => {
  if (url === '/robots.txt') return void response.writeHead(404).end()
  const page = PAGES[url]
  const body = contentOf(url)
  response.writeHead(page?.status ?? 200, { 'content-type': 'text/html; charset=utf-8', ...page?.headers })
  response.end(url === '/gzip' ? gzipSync(body) : body)
}

interface Kept {
  type: string
  url: string
  header(name: string): string | undefined
  http: WARCRecord['httpHeaders']
  payload: Buffer
  file: string
  offset: number
}

/** All records of all files in the folder, read by another library. */
async function records(): Promise<Kept[]> {
  const kept: Kept[] = []
  for (const file of (await readdir(folder)).filter((name) => name.endsWith('.warc.gz')).sort()) {
    const parser = new WARCParser(createReadStream(join(folder, file)))
    for await (const record of parser) {
      const payload = Buffer.from(await record.readFully(false))
      const header = (name: string) => record.warcHeader(name) ?? undefined
      const { warcType: type, warcTargetURI: url, httpHeaders: http } = record
      kept.push({ type: type!, url: url ?? '', header, http, payload, file, offset: parser.offset })
    }
  }
  return kept
}

/** The one record at a place, as a replay tool takes it out of the file. */
async function recordAt(
  file: string,
  offset: number,
  length: number,
): Promise<{ url: string; payload: Buffer }> {
  const handle = await open(join(folder, file))
  const bytes = Buffer.alloc(length)
  await handle.read(bytes, 0, length, offset)
  await handle.close()
  const record = (await new WARCParser(
    (async function* () {
      yield bytes
    })(),
  ).parse())!
  return { url: record.warcTargetURI!, payload: Buffer.from(await record.readFully(false)) }
}

async function rows(run: number) {
  const [found] = await rig.services.database.pool.query(
    'SELECT url_hash, url, final_url, digest, warc_file, warc_offset, warc_length FROM pages WHERE run_id = ?',
    [run],
  )
  return found as (Record<'url' | 'final_url' | 'warc_file', string> & {
    url_hash: Buffer
    digest: Buffer
    warc_offset: number
    warc_length: number
  })[]
}

async function crawl(keep: 'none' | 'errors' | 'changed' | 'all', origin: string): Promise<number> {
  const workers = rig.workers(1, { WARC_DIR: folder })
  const run = await rig.run(`${origin}/`, { keep })
  expect((await rig.ended(run)).state).toBe('finished')
  await workers.stop()
  return run
}

test('what a crawl keeps is read by another library: every page as it was served, its digests right, the index sorted and true', async () => {
  const origin = await serve(fromPages)
  const run = await crawl('all', origin)
  const all = await records()
  expect(all[0]!.type).toBe('warcinfo')
  for (const [n, { type, url, header, payload, http }] of all.entries()) {
    if (type !== 'response') continue
    const path = url.slice(origin.length)
    const redirect = PAGES[path]?.status === 302
    expect(payload.toString('latin1'), url).toBe(redirect ? '' : contentOf(path).toString('latin1'))
    expect(header('WARC-Payload-Digest')).toBe(`sha1:${base32(sha1(payload))}`)
    expect(http!.headers.get('content-length')).toBe(String(payload.length))
    expect(http!.statusCode).toBe(PAGES[path]?.status ?? 200)
    expect(all[n - 1]).toMatchObject({ type: 'request', url })
    expect(all[n - 1]!.header('WARC-Concurrent-To')).toBe(header('WARC-Record-ID'))
  }
  const responses = all.filter(({ type }) => type === 'response').map(({ url }) => url.slice(origin.length))
  expect(responses.sort()).toEqual(['/', '/changing', '/plain?moved', ...Object.keys(PAGES)].sort())

  for (const row of await rows(run)) {
    const found = await recordAt(row.warc_file, row.warc_offset, row.warc_length)
    expect(found.url).toBe(row.final_url)
    expect(sha1(found.payload)).toEqual(row.digest)
  }
  const index = (await readdir(folder)).find((name) => name.endsWith('.cdxj'))!
  const lines = (await readFile(join(folder, index), 'utf8')).trimEnd().split('\n')
  expect(lines).toEqual([...lines].sort())
  expect(lines).toHaveLength(responses.length)
  for (const line of lines) {
    const { url, filename, offset, length } = JSON.parse(line.slice(line.indexOf('{')))
    expect((await recordAt(filename, Number(offset), Number(length))).url).toBe(url)
  }
}, 60_000)

test('the console shows a kept page as what it was, in a frame that may do nothing, to people who are signed in', async () => {
  const origin = await serve(fromPages)
  const run = await crawl('all', origin)
  setEnv({ WARC_DIR: folder })
  const stored = await rows(run)
  const ask = (path: string, person: unknown = { role: 'viewer' }) => {
    const row = stored.find(({ url }) => url === origin + path)!
    const ctx = { services: rig.services, person } as Context
    return keptPage(ctx, { run: String(run), hash: row.url_hash.toString('hex') })
  }
  for (const path of ['/', '/gzip', '/gone', '/empty', '/cookies']) {
    const answer = await ask(path)
    expect(Buffer.from(await answer.arrayBuffer()).equals(contentOf(path)), path).toBe(true)
    expect(answer.headers.get('content-security-policy')).toMatch(/^sandbox; default-src 'none';/)
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
  }
  expect((await ask('/gbk')).headers.get('content-type')).toBe('text/html; charset=gbk')
  await expect(ask('/', null)).rejects.toThrow(/sign in/i)
  await expect(
    keptPage({ services: rig.services, person: { role: 'viewer' } } as Context, {
      run: '1',
      hash: '../../etc',
    }),
  ).rejects.toThrow()

  const point = (file: string) =>
    rig.services.database.pool.query('UPDATE pages SET warc_file = ? WHERE run_id = ?', [file, run])
  await point('../../../etc/passwd')
  await expect(ask('/')).rejects.toThrow(/is no WARC file of ours/)
  await point('gone.warc.gz')
  await expect(ask('/')).rejects.toThrow(/was kept in gone\.warc\.gz, which cannot be read .*replay tool/)
}, 60_000)

test('content that the run before has kept is referred to and not written again', async () => {
  const origin = await serve(fromPages)
  changing = 'first'
  await crawl('all', origin)
  const before = (await records()).length
  changing = 'second'
  const run = await crawl('all', origin)
  const after = (await records()).slice(before)
  expect(
    after
      .filter(({ type }) => type === 'response')
      .map(({ url }) => url.slice(origin.length))
      .sort(),
  ).toEqual(
    // The redirect itself is kept each time.
    ['/changing', '/moved'],
  )
  const revisit = after.find(({ type, url }) => type === 'revisit' && url.endsWith('/plain'))!
  expect(revisit.header('WARC-Refers-To-Target-URI')).toBe(`${origin}/plain`)
  expect(revisit.header('WARC-Profile')).toContain('identical-payload-digest')
  for (const row of await rows(run))
    expect(sha1((await recordAt(row.warc_file, row.warc_offset, row.warc_length)).payload)).toEqual(
      row.digest,
    )
}, 60_000)

test('`changed` keeps what changed, `errors` what failed, `none` nothing', async () => {
  const origin = await serve(fromPages)
  changing = 'first'
  const paths = async (from: number) =>
    (await records())
      .slice(from)
      .filter(({ type }) => type === 'response')
      .map(({ url }) => url.slice(origin.length))
  await crawl('none', origin)
  expect(await readdir(folder)).toEqual([])
  changing = 'second'
  await crawl('changed', origin)
  expect(await paths(0)).toEqual(['/changing'])
  const before = (await records()).length
  await crawl('errors', origin)
  expect(await paths(before)).toEqual(['/gone'])
}, 60_000)

test('an archive that is served again is crawled to the same pages with the same content', async () => {
  const origin = await serve(fromPages)
  const first = await rows(await crawl('all', origin))
  const kept = new Map(
    (await records()).filter(({ type }) => type === 'response').map((one) => [one.url, one]),
  )
  await closeSite()
  await serve(
    ({ url = '' }, response) => {
      const one = kept.get(origin + url)
      if (!one) return void response.writeHead(404).end()
      response.writeHead(
        one.http!.statusCode as number,
        Object.fromEntries(one.http!.headers as Iterable<[string, string]>),
      )
      response.end(one.payload)
    },
    Number(new URL(origin).port),
  )
  const again = await rows(await crawl('none', origin))
  const contents = (list: typeof again) =>
    new Map(list.map(({ url, digest }) => [url, digest.toString('hex')]))
  expect(contents(again)).toEqual(contents(first))
  expect(again).toHaveLength(10)
}, 60_000)

test('a folder that cannot be written to costs no page: they wait until it can', async () => {
  const asked: string[] = []
  const origin = await serve((request, response) => {
    asked.push(request.url!)
    fromPages(request, response)
  })
  const blocked = join(folder, 'warc')
  await writeFile(blocked, 'where a folder should be')
  const workers = rig.workers(1, { WARC_DIR: blocked, HEARTBEAT_SECONDS: '1' })
  const run = await rig.run(`${origin}/`, { keep: 'all' })
  await vi.waitUntil(() => asked.includes('/'), 30_000)
  // Longer than a lease: what was fetched is held, not given up and fetched again.
  await new Promise((resolve) => setTimeout(resolve, 3_000))
  expect(await rows(run)).toEqual([])
  await rm(blocked)
  expect((await rig.ended(run)).state).toBe('finished')
  await workers.stop()
  expect(await rows(run)).toHaveLength(10)
  expect(asked.filter((path) => path === '/')).toHaveLength(1)
}, 90_000)

test('whenever workers are killed, a page on record is in the archive', async () => {
  const many = Array.from({ length: 150 }, (_, n) => `/${n}`)
  const origin = await serve(({ url = '' }, response) => {
    if (url === '/robots.txt') return void response.writeHead(404).end()
    response.setHeader('content-type', 'text/html')
    response.end(
      url === '/' ? many.map((path) => `<a href="${path}">x</a>`).join('') : `page ${url}`.repeat(500),
    )
  })
  // Little files, so that kills meet their ends and beginnings as well.
  const workers = rig.workers(2, { WARC_DIR: folder, WARC_FILE_BYTES: '20000', CONCURRENT_REQUESTS: '4' })
  const run = await rig.run(`${origin}/`, { keep: 'all' })
  const killer = setInterval(() => {
    const [pid] = workers.pids()
    if (pid) process.kill(pid, 'SIGKILL')
  }, 700)
  const ended = await rig.ended(run).finally(() => clearInterval(killer))
  expect(ended.state).toBe('finished')
  const stored = await rows(run)
  expect(stored).toHaveLength(151)
  for (const row of stored) {
    const { url, payload } = await recordAt(row.warc_file, row.warc_offset, row.warc_length)
    expect(url).toBe(row.final_url)
    expect(sha1(payload)).toEqual(row.digest)
  }
}, 120_000)
