import { afterAll, beforeAll, expect, test } from 'vitest'
import { openServerRig, type ServerRig, task } from '../../tests/server-rig'
import { freshName } from '../../tests/services'
import { dropQueue } from './drop-queue'
import { enqueue } from './enqueue'
import { setHostDelay } from './queue-hosts'
import { configureQueue, ensureQueue, pauseQueue, queueStatus, resumeQueue } from './queues'
import { createRun } from './runs'
import { ensureDefaultSpider, getSpider, listSpiders, saveSpider } from './spiders'

let rig: ServerRig
beforeAll(async () => {
  rig = await openServerRig()
})
afterAll(() => rig.close())

test('a spider gets a version with each change, and none without one; each is kept and says by whom', async () => {
  const first = await saveSpider(rig.services, { name: 'shop' }, 'ann')
  expect(first).toMatchObject({ version: 1, definition: { follow: { scope: 'host' } } })
  expect((await saveSpider(rig.services, { name: 'shop' }, 'bob')).version).toBe(1)
  expect((await saveSpider(rig.services, { name: 'shop', maxPages: 5 }, 'bob')).version).toBe(2)
  expect(await getSpider(rig.services, 'shop')).toMatchObject({
    id: first.id,
    version: 2,
    definition: { maxPages: 5 },
  })
  expect(
    await rig.rows('SELECT version, author FROM spider_versions WHERE spider_id = ? ORDER BY version', [
      first.id,
    ]),
  ).toEqual([
    { version: 1, author: 'ann' },
    { version: 2, author: 'bob' },
  ])
  expect(await rig.rows("SELECT actor, action FROM audit_log WHERE subject = 'shop' ORDER BY id")).toEqual([
    { actor: 'ann', action: 'spider.create' },
    { actor: 'bob', action: 'spider.update' },
  ])
})

test('many who save the same new spider at once make one', async () => {
  const saved = await Promise.all(
    Array.from({ length: 5 }, (_, n) => saveSpider(rig.services, { name: 'race', maxPages: n + 1 }, `p${n}`)),
  )
  expect(new Set(saved.map(({ id }) => id)).size).toBe(1)
  expect(saved.map(({ version }) => version).sort()).toEqual([1, 2, 3, 4, 5])
  expect((await listSpiders(rig.services)).filter(({ name }) => name === 'race')).toHaveLength(1)
})

test('a wrong spider is refused and changes nothing; one that is not there is named', async () => {
  await expect(saveSpider(rig.services, { name: 'shop', maxPages: 0 }, 'ann')).rejects.toThrow(/maxPages/)
  expect((await getSpider(rig.services, 'shop')).version).toBe(2)
  await expect(getSpider(rig.services, 'nobody')).rejects.toThrow(/no spider "nobody"; save it first/)
})

test('the default spider is made once, and an operator’s change to it stays', async () => {
  await Promise.all([ensureDefaultSpider(rig.services), ensureDefaultSpider(rig.services)])
  await saveSpider(rig.services, { name: 'default', maxPages: 3 }, 'ann')
  expect((await ensureDefaultSpider(rig.services)).definition.maxPages).toBe(3)
})

test('settings of a queue are on record and in force at once; wrong ones and unknown queues are refused', async () => {
  const name = freshName('queue')
  const row = await ensureQueue(rig.services, name, { concurrency: 3 })
  expect(row).toMatchObject({ concurrency: 3, delayMs: 1000, paused: false, version: 1 })
  expect(await ensureQueue(rig.services, name, { concurrency: 99 })).toEqual(row)
  expect(await configureQueue(rig.services, name, { delayMs: 50, maxRunning: 4 }, 'ann')).toMatchObject({
    delayMs: 50,
    maxRunning: 4,
    version: 2,
  })
  expect((await configureQueue(rig.services, name, { maxRunning: null }, 'ann')).maxRunning).toBeNull()
  await pauseQueue(rig.services, name, 'ann')
  expect((await queueStatus(rig.services, name)).lengths.paused).toBe(true)
  expect((await resumeQueue(rig.services, name, 'ann')).paused).toBe(false)
  await expect(configureQueue(rig.services, name, { perHost: 0 }, 'ann')).rejects.toThrow(/perHost/)
  await expect(pauseQueue(rig.services, 'nothing', 'ann')).rejects.toThrow(/no queue "nothing"/)
  await expect(ensureQueue(rig.services, 'a b')).rejects.toThrow(/"a b" is not usable/)
  expect(await rig.rows('SELECT DISTINCT actor FROM audit_log WHERE subject = ?', [name])).toEqual([
    { actor: 'ann' },
  ])
})

test('of a queue that is dropped Redis keeps nothing and the record its runs; other queues stay', async () => {
  const { services } = rig
  const name = freshName('dropped')
  await ensureQueue(services, name)
  await setHostDelay(services, name, 'drop.test', 50, 'ann')
  const queue = services.queue(name)
  const other = services.queue(rig.queue)
  const dedupe = { scope: 'run', kind: 'bloom', capacity: 1000, errorRate: 0.01 } as const
  const { id } = await createRun(services, {
    spider: rig.spider.id,
    queue: name,
    seeds: [{ url: 'http://drop.test/' }],
    trigger: 'cli',
  })
  for (const one of [queue, other]) {
    await one.openRun(id, { dedupe, maxPages: null })
    await one.admit(id, [task('http://drop.test/')])
  }
  await enqueue(services, name, ['http://drop.test/inbox'])
  const keys = (of: string) => services.redis.keys(`*${of}*`)
  const before = await keys(rig.queue)
  expect((await keys(name)).length).toBeGreaterThan(5)
  await dropQueue(services, name)
  expect(await keys(name)).toEqual([])
  expect((await keys(rig.queue)).sort()).toEqual(before.sort())
  expect(await rig.rows('SELECT name FROM queues')).not.toContainEqual({ name })
  expect(await rig.rows('SELECT host FROM host_delays WHERE queue = ?', [name])).toEqual([])
  expect(await rig.rows('SELECT queue FROM runs WHERE id = ?', [id])).toEqual([{ queue: name }])
})

test('entries reach the inbox in their order, blank lines do not, and one that is too long stops it and says where', async () => {
  const name = freshName('inbox')
  const lines = Array.from({ length: 2500 }, (_, n) => `https://a.test/${n}`)
  const told: number[] = []
  expect(await enqueue(rig.services, name, ['', ...lines, '  '], (pushed) => told.push(pushed))).toBe(2500)
  expect(told).toEqual([1000, 2000, 2500])
  expect(await rig.services.redis.lrange(name, 0, -1)).toEqual(lines)
  await expect(enqueue(rig.services, name, ['https://a.test/', 'x'.repeat(70_000)])).rejects.toThrow(
    /Entry 2 is longer than 64 KiB; the 1 before it/,
  )
  await rig.services.redis.del(name)
})
