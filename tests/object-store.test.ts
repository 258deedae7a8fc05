import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { parseEnv, setEnv } from '../core/env'
import { ObjectStore, objectStore } from '../core/object-store'
import { keptPage } from '../server/api/kept-page'
import type { Context } from '../server/api/trpc'
import { encodeRecord } from '../worker/warc/record'
import { WarcFiles } from '../worker/warc/warc-files'
import { type CrawlRig, openRig } from './crawl-rig'
import { ObjectServer } from './object-server'

/** Pages that spiders keep, in an object store: on a server that checks each signature and each byte. */
const KEYS = { S3_ACCESS_KEY: 'a-key', S3_SECRET_KEY: 'a/secret+of 32 characters, or more' }
const PAGES = 40
let rig: CrawlRig
let folder: string
let site: Server
let origin: string
let objects: ObjectServer
beforeEach(async () => {
  rig = await openRig()
  folder = await mkdtemp(join(tmpdir(), 'orbweaver-objects-'))
  objects = await ObjectServer.start(KEYS.S3_ACCESS_KEY, KEYS.S3_SECRET_KEY)
  site = createServer(({ url = '' }, response) => {
    const n = Number(url.slice(1))
    if (!(n < PAGES)) return void response.writeHead(404).end()
    const links = [3 * n + 1, 3 * n + 2, 3 * n + 3].map((to) => `<a href="/${to}">x</a>`)
    response.setHeader('content-type', 'text/html').end(`${links.join('')}page ${n}`.repeat(20))
  }).listen(0, '127.0.0.1')
  await vi.waitUntil(() => site.listening)
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
  setEnv({ ...KEYS, S3_ENDPOINT: objects.url, WARC_DIR: folder })
})
afterEach(async () => {
  setEnv({ S3_ENDPOINT: '', S3_ACCESS_KEY: '', S3_SECRET_KEY: '', WARC_DIR: '' })
  await rig.close()
  await objects.close()
  site.closeAllConnections()
  await new Promise((resolve) => site.close(resolve))
  await rm(folder, { recursive: true, force: true })
})

const work = (count: number, more: Record<string, string> = {}) =>
  rig.workers(count, { ...KEYS, S3_ENDPOINT: objects.url, WARC_DIR: folder, ...more })
const files = async () => (await readdir(folder)).filter((name) => !name.startsWith('.'))

/** Asks the console for all pages of the run, and expects each as it was served. */
async function expectAllShown(run: number): Promise<void> {
  const [rows] = await rig.services.database.pool.query(
    "SELECT url, url_hash FROM pages WHERE run_id = ? AND state = 'done'",
    [run],
  )
  const stored = rows as { url: string; url_hash: Buffer }[]
  expect(stored).toHaveLength(PAGES)
  const ctx = { services: rig.services, person: { role: 'viewer' } } as Context
  for (const { url, url_hash } of stored) {
    const answer = await keptPage(ctx, { run: String(run), hash: url_hash.toString('hex') })
    expect(await answer.text()).toBe(await (await fetch(url)).text())
  }
}

test('what a crawl keeps goes into the store, whose bucket is made, and the console shows it from there', async () => {
  // So small that files end during the crawl as well as at its end.
  const workers = work(2, { WARC_FILE_BYTES: '8000' })
  const run = await rig.run(`${origin}/0`, { keep: 'all' })
  expect((await rig.ended(run)).state).toBe('finished')
  await workers.stop()
  expect(await files()).toEqual([])
  expect(objects.buckets).toEqual(new Set(['orbweaver']))
  const names = [...objects.objects.keys()]
  expect(names.filter((name) => name.endsWith('.warc.gz')).length).toBeGreaterThan(2)
  for (const name of names.filter((one) => one.endsWith('.warc.gz'))) {
    const index = objects.objects.get(name.replace('.warc.gz', '.cdxj'))!.toString().trimEnd().split('\n')
    expect(index).toEqual(index.toSorted())
  }
  await expectAllShown(run)
}, 60_000)

test('while the store is away pages are stored all the same, and shown; when it is back they come to it, by age too', async () => {
  objects.down = true
  work(1, { WARC_FILE_SECONDS: '2' })
  const run = await rig.run(`${origin}/0`, { keep: 'all' })
  expect((await rig.ended(run)).state).toBe('finished')
  await vi.waitUntil(() => objects.requests > 0, 20_000)
  expect(objects.objects.size).toBe(0)
  await expectAllShown(run)
  objects.down = false
  await vi.waitUntil(async () => (await files()).length === 0, { timeout: 30_000, interval: 100 })
  await expectAllShown(run)
}, 90_000)

test('what a killed worker left is brought to the store by the next one in its folder, once it is nobody’s open file', async () => {
  const left = join(folder, 'orbweaver-20260101000000000-00000-gone.warc.gz')
  const fresh = join(folder, 'orbweaver-20260101000000001-00000-other.warc.gz')
  for (const file of [left, fresh]) {
    await writeFile(file, 'records')
    await writeFile(file.replace('.warc.gz', '.cdxj'), 'b\na\n')
  }
  const long = new Date(Date.now() - 700_000)
  await utimes(left, long, long)
  const workers = work(1)
  await vi.waitUntil(() => objects.objects.size === 2, { timeout: 30_000, interval: 50 })
  await workers.stop()
  expect(objects.objects.get('orbweaver-20260101000000000-00000-gone.cdxj')!.toString()).toBe('a\nb\n')
  expect((await files()).toSorted()).toEqual(
    [fresh, fresh.replace('.warc.gz', '.cdxj')].map((path) => path.slice(folder.length + 1)).toSorted(),
  )
}, 60_000)

test('a worker that stood still until another took its file away begins another', async () => {
  const { id, bytes } = await encodeRecord('metadata', {}, Buffer.from('x'))
  const page = { records: [{ id, bytes }], main: 0 }
  const warc = new WarcFiles({ folder, worker: 'w', userAgent: 'u', maxBytes: 1e9 })
  const [first] = await warc.write([page])
  for (const name of await files()) await rm(join(folder, name))
  const [second] = await warc.write([page])
  expect(second!.file).not.toBe(first!.file)
  expect(await files()).toContain(second!.file)
  for (const name of await files()) await rm(join(folder, name))
  await warc.close()
})

test('a store that refuses is told of in its words, and half an address is refused at the start', async () => {
  const file = join(folder, 'x')
  await writeFile(file, 'x')
  const other = (region: string, secretAccessKey: string) =>
    new ObjectStore(objects.url, 'orbweaver', region, { accessKeyId: KEYS.S3_ACCESS_KEY, secretAccessKey })
  await expect(other('us-east-1', 'wrong').put('x', file)).rejects.toThrow(
    /refuses PUT x: SignatureDoesNotMatch The request signature .*; check bucket, region and keys/,
  )
  await expect(other('eu-1', KEYS.S3_SECRET_KEY).put('x', file)).rejects.toThrow(
    /AuthorizationHeaderMalformed/,
  )
  await expect(
    new ObjectStore('http://127.0.0.1:9', 'orbweaver', 'us-east-1', {
      accessKeyId: 'a',
      secretAccessKey: 'b',
    }).put('x', file),
  ).rejects.toMatchObject({
    name: 'Unavailable',
    message: expect.stringMatching(/does not answer .*S3_ENDPOINT/),
  })
  expect(() => objectStore(parseEnv({ S3_ENDPOINT: 'http://x' }))).toThrow(
    /set S3_ACCESS_KEY and S3_SECRET_KEY/,
  )
  expect(() =>
    objectStore(parseEnv({ ...KEYS, S3_ENDPOINT: 'http://x', WARC_FILE_BYTES: '6000000000' })),
  ).toThrow(/WARC_FILE_BYTES is more/)
})
