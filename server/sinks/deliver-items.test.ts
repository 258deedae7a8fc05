import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { setEnv } from '../../core/env'
import { connectRedis } from '../../core/redis'
import { urlHash } from '../../core/url'
import { ObjectServer } from '../../tests/object-server'
import { openServerRig, type ServerRig } from '../../tests/server-rig'
import { freshName, testRedisUrl } from '../../tests/services'
import { type PageRecord, storePages } from '../../worker/sink/pages'
import { RULES } from '../alerts/rules'
import { readMetrics } from '../api/metrics'
import { createRun } from '../services/runs'
import { databaseNow } from '../services/schedules'
import { readSinkLengths, replaySink } from '../services/sinks'
import { itemDelivery, MOST_TRIES } from './deliver-items'
import { SECRET, startSinkServer } from './sink-servers'

const always = () => true
let rig: ServerRig
let other: Awaited<ReturnType<typeof startSinkServer>>
let objects: ObjectServer
let folder: string
let run: number
beforeAll(async () => {
  rig = await openServerRig()
  other = await startSinkServer()
  objects = await ObjectServer.start('a-key', 'its-secret')
  folder = await mkdtemp(join(tmpdir(), 'orbweaver-sinks-'))
  setEnv({ SINKS_FILE: join(folder, 'sinks.yaml') })
  const seeds = [{ url: 'https://a.test/' }]
  run = (await createRun(rig.services, { spider: rig.spider.id, queue: rig.queue, seeds, trigger: 'manual' }))
    .id
})
afterAll(async () => {
  await rig.close()
  await other.close()
  await objects.close()
  await rm(folder, { recursive: true, force: true })
})
beforeEach(async () => {
  for (const table of ['sink_outbox', 'items', 'pages', 'audit_log']) await rig.rows(`DELETE FROM ${table}`)
  other.taken.length = 0
  other.requests.length = 0
  other.documents.clear()
  other.state.fault = () => undefined
  await configure({ hook: hook() })
})

const hook = (more: object = {}) => ({
  kind: 'webhook',
  url: `${other.address}/hook`,
  secret: SECRET,
  allowPrivate: true,
  ...more,
})
/** YAML is a superset of JSON. */
const configure = (sinks: object) => writeFile(join(folder, 'sinks.yaml'), JSON.stringify({ sinks }))

/** Stores pages as a worker does, each with one item unless it has others. */
async function store(
  from: number,
  to: number,
  { sinks = ['hook'], data = (n: number): object => ({ n }), ...more }: Partial<Stored> = {},
): Promise<void> {
  const records = Array.from({ length: to - from }, (_, at) => {
    const url = `https://a.test/${from + at}`
    return {
      run,
      hash: urlHash(url),
      url,
      finalUrl: url,
      state: 'done',
      items: [{ name: 'page', data: data(from + at) }],
      sinks,
      depth: 0,
      attempts: 1,
      deliveries: 1,
      token: '1.1',
      fetchedAt: new Date(),
      visit: null,
      ...more,
    } as unknown as PageRecord
  })
  await storePages(rig.services.database.pool, records)
}
type Stored = { sinks: string[]; data(n: number): object } & Pick<
  PageRecord,
  'deliveries' | 'token' | 'items' | 'fetchedAt'
>

/** A process of its own: what it knew of sinks is forgotten with it. */
const deliver = (still = always) => itemDelivery()(rig.services, still)
/** Turns of one process until nothing waits: on a busy machine one does not last for all. */
async function deliverAll(): Promise<void> {
  const process = itemDelivery()
  const waiting = async () => (await outbox()).filter(({ state }) => state === 'waiting')
  await expect
    .poll(() => process(rig.services, always).then(waiting), { timeout: 60_000, interval: 1 })
    .toEqual([])
}
const numbers = () => other.taken.map(({ data }) => data.n)
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n)
const outbox = () =>
  rig.rows<{ state: string; detail: string | null; tries: number }>(
    'SELECT state, detail, tries FROM sink_outbox ORDER BY id',
  )

test('what is stored with sinks is given to each of them in batches, signed, and nothing else is', async () => {
  await configure({ hook: hook(), small: hook({ items: 7 }) })
  await store(0, 20, { sinks: ['hook', 'small', 'hook'] })
  await store(20, 25, { sinks: [] })
  await store(25, 26, { items: [] })
  await deliverAll()
  expect(await outbox()).toEqual([])
  expect(other.requests.map(({ length }) => length).toSorted()).toEqual([20, 6, 7, 7].toSorted())
  expect(numbers().toSorted()).toEqual([...range(0, 20), ...range(0, 20)].toSorted())
  expect(other.taken[0]).toMatchObject({
    id: expect.stringMatching(new RegExp(`^${run}-[0-9a-f]{32}-0$`)),
    spider: 'rig',
    run,
    url: expect.stringMatching(/^https:\/\/a\.test\/\d+$/),
    fetchedAt: expect.stringMatching(/^\d{4}-.*Z$/),
    name: 'page',
  })
})

test('what a process gave without writing that down is given again by the next, under the same ids', async () => {
  await store(0, 3)
  // It ends while the sink has the batch and has not answered.
  let still = true
  other.state.fault = () => {
    still = false
    return 'never'
  }
  await deliver(() => still)
  expect(await outbox()).toHaveLength(3)
  other.state.fault = () => undefined
  await deliverAll()
  expect(await outbox()).toEqual([])
  const ids = other.requests.map((items) => items.map(({ id }) => id))
  expect(ids).toHaveLength(2)
  expect(ids[1]).toEqual(ids[0])
})

test('a page that is stored anew while it is being given is given again as it is then', async () => {
  await store(0, 1)
  // The batch is answered only when the newer page is stored.
  other.state.fault = async () => {
    other.state.fault = () => undefined
    await store(0, 1, { deliveries: 2, token: '1.2', data: () => ({ n: 'new' }) })
    return undefined
  }
  await deliverAll()
  expect(await outbox()).toEqual([])
  expect(numbers()).toEqual([0, 'new'])
})

test('a sink that is away keeps nobody from storing, is left alone for longer and longer, and gets all of it when it is back', async () => {
  await configure({ hook: hook(), files: { kind: 'jsonl', folder } })
  other.state.fault = () => ({ status: 503, body: 'upgrading' })
  const process = itemDelivery()
  await store(0, 5, { sinks: ['hook', 'files'] })
  for (let n = 0; n < 5; n++) await process(rig.services, always)
  // Asked once; its next time has not come.
  expect(other.requests).toHaveLength(1)
  await store(5, 10)
  expect(await readSinkLengths(rig.services)).toMatchObject([
    { sink: 'hook', waiting: 10, detail: 'HTTP 503: upgrading', refused: 0 },
  ])
  other.state.fault = () => undefined
  await expect.poll(() => process(rig.services, always).then(outbox), { timeout: 20_000 }).toEqual([])
  expect(numbers().toSorted()).toEqual(range(0, 10))
})

test('a Retry-After is kept to', async () => {
  other.state.fault = () => ({ status: 429, headers: { 'retry-after': '3600' } })
  const process = itemDelivery()
  await store(0, 1)
  await process(rig.services, always)
  other.state.fault = () => undefined
  await new Promise((resolve) => setTimeout(resolve, 700))
  await process(rig.services, always)
  expect(other.requests).toHaveLength(1)
})

test('one page that a sink refuses becomes a dead letter and holds up none of two hundred; mended, it is given again', async () => {
  const bad = (items: { data: Record<string, unknown> }[]) => items.some(({ data }) => data.n === 77)
  other.state.fault = (items) => (bad(items) ? { status: 422, body: 'no such thing' } : undefined)
  await store(0, 200)
  await deliverAll()
  expect(numbers().toSorted()).toEqual(
    range(0, 200)
      .filter((n) => n !== 77)
      .toSorted(),
  )
  expect(await outbox()).toMatchObject([{ state: 'dead', detail: 'HTTP 422: no such thing' }])
  other.state.fault = () => undefined
  await deliver()
  expect(numbers()).toHaveLength(199)
  expect(await replaySink(rig.services, 'hook', 'operator@example.com')).toBe(1)
  await deliverAll()
  expect(numbers().at(-1)).toBe(77)
  expect(await rig.rows('SELECT actor, action, subject FROM audit_log')).toEqual([
    { actor: 'operator@example.com', action: 'sink.replay', subject: 'hook' },
  ])
})

test('a page that a sink fails at again and again is tried ten times, at last alone, across restarts, and then is a dead letter', async () => {
  other.state.fault = (items) => (items.some(({ data }) => data.n === 1) ? { status: 500 } : undefined)
  await store(0, 3)
  let turns = 0
  await expect
    .poll(
      async () => {
        turns++
        await deliver()
        return (await outbox()).map(({ state }) => state)
      },
      { timeout: 30_000, interval: 1 },
    )
    .toEqual(['dead'])
  expect(numbers().toSorted()).toEqual([0, 2])
  expect(turns).toBeGreaterThan(MOST_TRIES)
  expect(await outbox()).toMatchObject([{ tries: MOST_TRIES, detail: 'HTTP 500: ' }])
})

test('what a sink says is told without its secret, should it say that', async () => {
  other.state.fault = () => ({ status: 401, body: `${SECRET} is old` })
  await store(0, 1)
  await deliver()
  expect(await outbox()).toMatchObject([{ state: 'waiting', detail: 'HTTP 401: *** is old' }])
})

test('a sink at an address that is not public is refused until its settings allow it', async () => {
  await configure({ hook: hook({ allowPrivate: false }) })
  await store(0, 1)
  await deliver()
  expect(other.requests).toEqual([])
  expect(await outbox()).toMatchObject([
    { detail: expect.stringContaining('is not public; set allowPrivate: true for the sink') },
  ])
})

test('a search engine has each document once under its id; of a batch it refuses some lines and takes the rest', async () => {
  await configure({
    search: {
      kind: 'elasticsearch',
      url: `${other.address}/search`,
      index: 'items',
      user: 'elastic',
      password: 'changeme',
      allowPrivate: true,
    },
  })
  const sinks = ['search']
  await store(0, 10, { sinks, data: (n) => ({ n, price: n === 4 ? 'on request' : n }) })
  await deliverAll()
  await store(0, 1, { sinks, deliveries: 2, token: '1.2', data: () => ({ n: 0, price: 100 }) })
  await deliverAll()
  expect(other.documents.size).toBe(9)
  expect([...other.documents.values()]).toContainEqual(
    expect.objectContaining({ data: { n: 0, price: 100 }, url: 'https://a.test/0' }),
  )
  expect(await outbox()).toMatchObject([
    { state: 'dead', detail: '400 mapper_parsing_exception: failed to parse field [data.price]' },
  ])
})

test('when a search engine is too busy for some lines of a batch, all of it waits and none is a dead letter', async () => {
  await configure({
    search: {
      kind: 'elasticsearch',
      url: `${other.address}/search`,
      index: 'items',
      apiKey: 'k',
      allowPrivate: true,
    },
  })
  other.state.fault = (items) => ({
    status: 200,
    body: JSON.stringify({
      errors: true,
      items: items.map(({ id }, n) => ({
        index:
          n === 0
            ? { _id: id, status: 400, error: { type: 'mapper_parsing_exception', reason: 'no' } }
            : { _id: id, status: 429, error: { type: 'es_rejected_execution_exception', reason: 'full' } },
      })),
    }),
  })
  await store(0, 3, { sinks: ['search'] })
  await deliver()
  expect(await outbox()).toMatchObject([
    { state: 'waiting', tries: 0, detail: '429 es_rejected_execution_exception: full' },
    { state: 'waiting' },
    { state: 'waiting' },
  ])
})

test('a stream in Redis gets an entry for each item, in the order of storing, and is kept short when asked', async () => {
  const key = freshName('stream')
  await configure({ stream: { kind: 'redis-stream', url: testRedisUrl(), key, maxLength: 500 } })
  for (let n = 0; n < 1200; n += 100) await store(n, n + 100, { sinks: ['stream'] })
  await deliverAll()
  const redis = connectRedis(testRedisUrl())
  await redis.connect()
  try {
    const entries = await redis.xrange(key, '-', '+')
    expect(entries.length).toBeGreaterThanOrEqual(500)
    expect(entries.length).toBeLessThan(800)
    const [id, fields] = entries.at(-1)!
    expect(id).toMatch(/^\d+-\d+$/)
    const item = JSON.parse(fields[3]!)
    expect(fields).toEqual(['id', item.id, 'item', JSON.stringify(item)])
    expect(item.run).toBe(run)
  } finally {
    await redis.del(key)
    redis.disconnect()
  }
  expect(await outbox()).toEqual([])
})

test('an object store gets one object of many pages, when they have waited for long enough, and the same again for the same', async () => {
  const s3 = {
    kind: 's3',
    endpoint: objects.url,
    bucket: 'items',
    accessKey: 'a-key',
    secretKey: 'its-secret',
  }
  await configure({ store: { ...s3, seconds: 60 } })
  const sinks = ['store']
  await store(0, 30, { sinks })
  await deliver()
  expect(objects.objects.size).toBe(0)
  await store(30, 40, { sinks })
  await configure({ store: { ...s3, seconds: 0 } })
  // Two processes at once, as when one that leads was frozen.
  await Promise.all([deliverAll(), deliverAll()])
  expect([...objects.objects.keys()]).toEqual([
    expect.stringMatching(/^items\/rig\/\d{4}-\d\d-\d\d\/\d{6}-[0-9a-f]{16}\.jsonl\.gz$/),
  ])
  const lines = gunzipSync([...objects.objects.values()][0]!)
    .toString()
    .trimEnd()
    .split('\n')
  expect(lines.map((line) => JSON.parse(line).data.n).toSorted()).toEqual(range(0, 40).toSorted())
  objects.down = true
  await store(40, 41, { sinks })
  await deliver()
  expect(await outbox()).toMatchObject([
    { state: 'waiting', tries: 0, detail: expect.stringContaining('SlowDown') },
  ])
  objects.down = false
})

test('items of many bytes go in batches that memory holds', async () => {
  await configure({ files: { kind: 'jsonl', folder, rotate: 'never' }, hook: hook({ items: 1000 }) })
  await store(0, 12, { data: (n) => ({ n, text: 'x'.repeat(900_000) }) })
  await deliverAll()
  expect(other.requests.map(({ length }) => length)).toEqual([4, 4, 4])
})

test('items for a sink that is not named wait for it, and an alert tells of what waits and of what is refused', async () => {
  await store(0, 3, { sinks: ['nobody'] })
  await store(3, 5)
  other.state.fault = () => ({ status: 400, body: 'what?' })
  await expect
    .poll(() => deliver().then(() => readSinkLengths(rig.services)), { timeout: 20_000, interval: 1 })
    .toMatchObject([
      { sink: 'hook', refused: 2 },
      { sink: 'nobody', waiting: 3 },
    ])
  await rig.rows("UPDATE sink_outbox SET created_at = created_at - INTERVAL 90 MINUTE WHERE sink = 'nobody'")
  const at = await databaseNow(rig.services)
  expect(await RULES.sink_age.look(rig.services, at, RULES.sink_age.defaults)).toEqual([
    { subject: 'sink:nobody', figure: 90, facts: { sink: 'nobody', waiting: 3, last: '' } },
  ])
  expect(await RULES.sink_refused.look(rig.services, at, RULES.sink_refused.defaults)).toEqual([
    { subject: 'sink:hook', figure: 2, facts: { sink: 'hook', last: 'HTTP 400: what?' } },
  ])
  const { text } = await readMetrics(rig.services)
  expect(text).toMatch(/^orbweaver_sink_pages_waiting\{sink="nobody"\} 3$/m)
  expect(text).toMatch(/^orbweaver_sink_oldest_seconds\{sink="nobody"\} 54\d\d$/m)
  expect(text).toMatch(/^orbweaver_sink_pages_refused\{sink="hook"\} 2$/m)
  await configure({ nobody: { kind: 'jsonl', folder, rotate: 'never' } })
  await deliverAll()
  expect((await readFile(join(folder, 'rig.jsonl'), 'utf8')).trimEnd().split('\n')).toHaveLength(3)
})
