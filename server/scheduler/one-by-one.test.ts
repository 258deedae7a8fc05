import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { Unavailable } from '../../core/errors'
import { metaKey, runsKey } from '../../core/queue/keys'
import { openServerRig, type ServerRig, work } from '../../tests/server-rig'
import { freshName } from '../../tests/services'
import { settleEpoch } from '../services/epoch'
import { configureQueue, ensureQueue } from '../services/queues'
import { cancelRun, createRun, getRun } from '../services/runs'
import { listFires, saveSchedule } from '../services/schedules'
import { saveSpider } from '../services/spiders'
import { cancelRuns } from './cancel-runs'
import { finishRuns } from './finish-runs'
import { fireSchedules } from './fire'
import { guardEpoch } from './guard-epoch'
import { oneByOne } from './one-by-one'
import { reap } from './reap'
import { retain } from './retention'
import { sample } from './sample'
import { seedRuns } from './seed-runs'
import { repeatSettings } from './settings'

const always = () => true
let rig: ServerRig
/** Comes before the rig's queue in every list. */
let spoilt: string
const logged = vi.fn()

beforeAll(async () => {
  rig = await openServerRig()
  rig.services.log.error = logged as never
  spoilt = freshName('a')
  await ensureQueue(rig.services, spoilt)
  await configureQueue(rig.services, spoilt, { delayMs: 0 }, 'test')
  await rig.rows('UPDATE queues SET created_at = created_at - INTERVAL 1 HOUR')
  await settleEpoch(rig.services)
})
afterAll(() => rig.close())
beforeEach(() => logged.mockClear())

/** Does `body` while Redis holds something else under that key of the spoilt queue. */
async function whileSpoilt(keyOf: (queue: string) => string, body: () => Promise<void>): Promise<void> {
  const { redis } = rig.services
  const key = keyOf(spoilt)
  await redis.rename(key, `${spoilt}:kept`)
  await redis.set(key, 'not ours')
  await body()
  await redis.rename(`${spoilt}:kept`, key)
}
const startIn = async (queue: string) =>
  (
    await createRun(rig.services, {
      spider: rig.spider.id,
      queue,
      seeds: [{ url: `http://fault.test/${queue}` }],
      trigger: 'cli',
    })
  ).id
/** Two runs, the first of which has a definition that can't be read. */
async function twoRuns(): Promise<{ broken: number; sound: number }> {
  const broken = await startIn(rig.queue)
  const sound = await startIn(rig.queue)
  await rig.rows("UPDATE runs SET definition = '{' WHERE id = ?", [broken])
  return { broken, sound }
}
const remove = (run: number) => rig.rows('DELETE FROM runs WHERE id = ?', [run])
const stateOf = async (id: number) =>
  (await rig.rows<{ state: string }>('SELECT state FROM runs WHERE id = ?', [id]))[0]!.state
const epoch = async () => (await rig.rows<{ epoch: number }>('SELECT epoch FROM dispatcher'))[0]!.epoch
const faults = () => logged.mock.calls.map(([what]) => what as Record<string, unknown>)

test('a schedule that fails for any reason is logged by its id, and those after it fire', async () => {
  const schedule = (name: string, spider: number) =>
    saveSchedule(rig.services, { name, spider, queue: rig.queue, cron: '* * * * * *', zone: 'UTC' }, 'test')
  const seeds = ['http://fault.test/']
  const bad = await saveSpider(rig.services, { name: 'unreadable', seeds }, 'test')
  const good = await saveSpider(rig.services, { name: 'readable', seeds }, 'test')
  const [first, wrong, last] = [
    await schedule('first', bad.id),
    await schedule('wrong', good.id),
    await schedule('last', good.id),
  ]
  await rig.rows("UPDATE spiders SET definition = '{' WHERE id = ?", [bad.id])
  await rig.rows("UPDATE schedules SET cron = 'every now and then' WHERE id = ?", [wrong.id])
  await rig.rows('UPDATE schedules SET decided_until = UTC_TIMESTAMP(3) - INTERVAL 3 SECOND')
  await fireSchedules(rig.services, always)
  expect(await listFires(rig.services, first.id)).toEqual([])
  expect((await listFires(rig.services, last.id)).map(({ kind }) => kind)).toContain('fired')
  expect(faults()).toMatchObject([
    { schedule: first.id, err: expect.any(SyntaxError) },
    { schedule: wrong.id, cause: expect.stringMatching(/"every now and then" is not usable/) },
  ])
  await rig.rows('DELETE FROM schedules')
  await rig.rows('DELETE FROM runs')
})

test('a run that can’t be seeded, cancelled or rebuilt is logged by its id, and those after it are', async () => {
  const { broken, sound } = await twoRuns()
  await seedRuns(rig.services, always)
  expect(await stateOf(sound)).toBe('running')
  expect(faults()).toMatchObject([{ run: broken }])

  await rig.rows("UPDATE runs SET state = 'running', epoch = 0")
  logged.mockClear()
  await guardEpoch(rig.services, always)
  expect((await getRun(rig.services, sound)).epoch).toBe(await epoch())
  // The same fault of the same run, a moment later: it is told once a minute.
  expect(faults()).toEqual([])

  await cancelRun(rig.services, sound, 'test')
  await rig.rows("UPDATE runs SET state = 'cancelling' WHERE id = ?", [broken])
  await cancelRuns(rig.services, always)
  expect(await stateOf(sound)).toBe('cancelled')
  await remove(broken)
})

test('a run whose queue is spoilt is not finished, and those of other queues are', async () => {
  const broken = await startIn(spoilt)
  const sound = await startIn(rig.queue)
  await seedRuns(rig.services, always)
  await work(rig)
  await whileSpoilt(runsKey, async () => {
    await finishRuns(rig.services, always)
    expect([await stateOf(broken), await stateOf(sound)]).toEqual(['running', 'finished'])
    expect(faults()).toMatchObject([{ run: broken }])

    await rig.rows("UPDATE runs SET state = 'finished', finished_at = UTC_TIMESTAMP(3) - INTERVAL 25 HOUR")
    await retain(rig.services, always)
    expect((await rig.services.queue(rig.queue).counts(sound)).admitted).toBe(0)
  })
})

test('a spoilt queue keeps no other from its epoch, settings, samples and reaping', async () => {
  await startIn(rig.queue)
  await seedRuns(rig.services, always)
  const queue = rig.services.queue(rig.queue)
  const { leases } = await queue.claim({ max: 1, leaseMs: 1, hardMs: 1, settingsVersion: 0 })
  expect(leases).toHaveLength(1)
  await configureQueue(rig.services, rig.queue, { delayMs: 7 }, 'test')
  await rig.services.redis.del(metaKey(rig.queue))
  await whileSpoilt(metaKey, async () => {
    await repeatSettings(rig.services, always)
    expect(await rig.services.redis.hget(metaKey(rig.queue), 'delayMs')).toBe('7')
    expect(faults()).toMatchObject([{ queue: spoilt }])
    await guardEpoch(rig.services, always)
    expect((await queue.lengths()).epoch).toBe(await epoch())
    await sample(rig.services, always)
    expect(await rig.rows('SELECT queue FROM samples')).toEqual([{ queue: rig.queue }])
    await reap(rig.services, always)
    expect((await queue.lengths()).running).toBe(0)
  })
})

test('a server that is away ends the turn, for nothing after that can go on either', async () => {
  const tried: number[] = []
  const turn = oneByOne(
    rig.services,
    [1, 2, 3],
    always,
    (n) => ({ n }),
    async (n) => {
      tried.push(n)
      if (n === 2) throw new Unavailable('Redis is away.')
    },
  )
  await expect(turn).rejects.toThrow('Redis is away.')
  expect(tried).toEqual([1, 2])
})
