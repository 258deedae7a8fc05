import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { openServerRig, type ServerRig } from '../../tests/server-rig'
import { createRun } from '../services/runs'
import { enableSchedule, listFires, type ScheduleInput, saveSchedule } from '../services/schedules'
import { insertSeeds, toSeedRow } from '../services/seed-rows'
import { saveSpider } from '../services/spiders'
import { decide } from './fire'

let rig: ServerRig
beforeAll(async () => {
  rig = await openServerRig()
  await seed(rig.spider.id, ['http://fire.test/'])
})
afterAll(() => rig.close())
beforeEach(async () => {
  await rig.services.database.pool.query('DELETE FROM runs')
})

const seed = (spiderId: number, urls: string[]) =>
  insertSeeds(
    rig.services.database.pool,
    { spiderId, runId: 0 },
    urls.map((url) => toSeedRow({ url })),
  )

/** A schedule that is due at each full hour, decided up to `2026-06-01T00:00Z`. */
async function hourly(policies: Partial<ScheduleInput> = {}): Promise<number> {
  const { id } = await saveSchedule(
    rig.services,
    { name: 'hourly', spider: rig.spider.id, queue: rig.queue, cron: '0 * * * *', zone: 'UTC', ...policies },
    'test',
  )
  await decidedUntil(id, '2026-06-01T00:00:00Z')
  return id
}
const decidedUntil = (id: number, at: string) =>
  rig.services.database.pool.query('UPDATE schedules SET decided_until = ? WHERE id = ?', [new Date(at), id])
const at = (time: string) => new Date(`2026-06-01T${time}Z`)
const kinds = async (id: number) =>
  (await listFires(rig.services, id))
    .reverse()
    .map(({ fireAt, kind }) => `${fireAt.toISOString().slice(11, 16)} ${kind}`)
const runsOf = (id: number) =>
  rig.rows<{ id: number; fire_at: Date; state: string }>(
    'SELECT * FROM runs WHERE schedule_id = ? ORDER BY fire_at',
    [id],
  )
const end = (id: number) =>
  rig.services.database.pool.query("UPDATE runs SET state = 'finished' WHERE schedule_id = ?", [id])

test('a time that has come makes one run of the spider as it is, however often and by how many it is decided', async () => {
  const id = await hourly()
  await decide(rig.services, id, at('00:59:59'))
  expect(await runsOf(id)).toEqual([])
  await Promise.all(Array.from({ length: 5 }, () => decide(rig.services, id, at('01:00:00.200'))))
  await decide(rig.services, id, at('01:00:01'))
  const runs = await runsOf(id)
  expect(runs).toMatchObject([
    { state: 'seeding', trigger: 'schedule', queue: rig.queue, fire_at: at('01:00:00') },
  ])
  expect(await listFires(rig.services, id)).toMatchObject([
    { kind: 'fired', runId: runs[0]!.id, reason: null },
  ])
})

test('a time that was decided is not decided again, even when the clock or the record of the schedule went back', async () => {
  const id = await hourly({ overlap: 'parallel' })
  await decide(rig.services, id, at('01:00:01'))
  await decidedUntil(id, '2026-06-01T00:00:00Z')
  await decide(rig.services, id, at('01:00:30'))
  await decide(rig.services, id, at('02:00:01'))
  expect(await kinds(id)).toEqual(['01:00 fired', '02:00 fired'])
  expect(await runsOf(id)).toHaveLength(2)
})

test.each([
  ['skip', ['01:00 missed', '02:00 missed', '03:00 missed'], 0],
  ['once', ['01:00 missed', '02:00 missed', '03:00 fired'], 1],
  ['all', ['01:00 fired', '02:00 fired', '03:00 fired'], 3],
] as const)(
  'of three missed fires, policy %s makes up for as many as it says, each with its reason',
  async (missed, expected, runs) => {
    const id = await hourly({ missed, overlap: 'parallel' })
    await decide(rig.services, id, at('03:30:00'))
    expect(await kinds(id)).toEqual(expected)
    expect(await runsOf(id)).toHaveLength(runs)
    for (const { kind, reason } of await listFires(rig.services, id))
      if (kind === 'missed') expect(reason).toMatch(/no scheduler/)
  },
)

test('missed fires that are all made up for come one after another, although overlapping ones are skipped', async () => {
  const id = await hourly({ missed: 'all', overlap: 'skip' })
  await decide(rig.services, id, at('03:30:00'))
  expect(await kinds(id)).toEqual(['01:00 fired', '02:00 queued', '03:00 queued'])
  for (let n = 0; n < 2; n++) {
    await end(id)
    await decide(rig.services, id, at('03:30:01'))
  }
  expect(await kinds(id)).toEqual(['01:00 fired', '02:00 fired', '03:00 fired'])
  expect(await runsOf(id)).toHaveLength(3)
})

test.each([
  ['skip', ['01:00 fired', '02:00 skipped'], 1],
  ['queue', ['01:00 fired', '02:00 queued'], 1],
  ['parallel', ['01:00 fired', '02:00 fired'], 2],
] as const)(
  'while a run goes on, policy %s does what it says, and the next one after its end fires',
  async (overlap, expected, runs) => {
    const id = await hourly({ overlap })
    await decide(rig.services, id, at('01:00:01'))
    await decide(rig.services, id, at('02:00:01'))
    expect(await kinds(id)).toEqual(expected)
    expect(await runsOf(id)).toHaveLength(runs)
    await end(id)
    await decide(rig.services, id, at('02:10:00'))
    await end(id)
    await decide(rig.services, id, at('03:00:01'))
    expect((await kinds(id)).at(-1)).toBe('03:00 fired')
    if (overlap === 'queue') expect(await kinds(id)).toEqual(['01:00 fired', '02:00 fired', '03:00 fired'])
  },
)

test('what comes due while a schedule is stopped is not made up for', async () => {
  const id = await hourly({ missed: 'all' })
  await enableSchedule(rig.services, id, false, 'test')
  await decide(rig.services, id, at('03:30:00'))
  expect(await kinds(id)).toEqual([])
  await enableSchedule(rig.services, id, true, 'test')
  await decide(rig.services, id, at('04:30:00'))
  expect(await kinds(id)).toEqual([])
})

test('a schedule that is stopped starts nothing more, neither what waits for a run to end', async () => {
  const id = await hourly({ overlap: 'queue' })
  await decide(rig.services, id, at('01:00:01'))
  await decide(rig.services, id, at('02:00:01'))
  await enableSchedule(rig.services, id, false, 'test')
  await end(id)
  await decide(rig.services, id, at('02:10:00'))
  expect(await kinds(id)).toEqual(['01:00 fired', '02:00 skipped'])
  expect((await listFires(rig.services, id))[0]!.reason).toMatch(/stopped/)
  expect(await runsOf(id)).toHaveLength(1)
})

test('a schedule without its spider says so and does not hold up anything', async () => {
  const id = await hourly()
  await rig.services.database.pool.query('UPDATE schedules SET spider_id = 999999 WHERE id = ?', [id])
  await decide(rig.services, id, at('01:00:01'))
  expect(await listFires(rig.services, id)).toMatchObject([{ kind: 'skipped', reason: 'its spider is gone' }])
})

test('a schedule whose spider has no seeds says so instead of making an empty run, and fires once there are some', async () => {
  const bare = await saveSpider(rig.services, { name: 'bare' }, 'test')
  const id = await hourly({ spider: bare.id, overlap: 'queue' })
  const given = await createRun(rig.services, {
    spider: bare.id,
    queue: rig.queue,
    seeds: [{ url: 'http://fire.test/of-one-run' }],
    trigger: 'manual',
  })
  await decide(rig.services, id, at('01:00:01'))
  expect(await listFires(rig.services, id)).toMatchObject([
    { kind: 'skipped', reason: 'its spider has no seeds to begin with', runId: null },
  ])
  await seed(bare.id, ['http://fire.test/disabled'])
  await rig.rows('UPDATE seeds SET enabled = FALSE WHERE spider_id = ? AND run_id = 0', [bare.id])
  await decide(rig.services, id, at('02:00:01'))
  expect(await rig.rows('SELECT id FROM runs')).toEqual([{ id: given.id }])

  await seed(bare.id, ['http://fire.test/'])
  await decide(rig.services, id, at('03:00:01'))
  await end(id)
  await saveSpider(rig.services, { name: 'bare', seeds: ['http://fire.test/'] }, 'test')
  await rig.rows('DELETE FROM seeds WHERE spider_id = ?', [bare.id])
  await decide(rig.services, id, at('04:00:01'))
  expect(await kinds(id)).toEqual(['01:00 skipped', '02:00 skipped', '03:00 fired', '04:00 fired'])
  expect(await runsOf(id)).toHaveLength(2)
})

test('a wrong schedule is refused whole, with the field and the fault', async () => {
  const good = { name: 'x', spider: rig.spider.id, queue: rig.queue, cron: '0 * * * *', zone: 'UTC' }
  await expect(saveSchedule(rig.services, { ...good, cron: 'every day' }, 'test')).rejects.toThrow(
    /"every day" is not usable/,
  )
  await expect(saveSchedule(rig.services, { ...good, cron: '0 0 30 2 *' }, 'test')).rejects.toThrow(
    /"0 0 30 2 \*" is never due/,
  )
  await expect(saveSchedule(rig.services, { ...good, zone: 'Mars' }, 'test')).rejects.toThrow(
    /"Mars" is not an IANA/,
  )
  await expect(saveSchedule(rig.services, { ...good, spider: 424242 }, 'test')).rejects.toThrow(
    /no spider with id 424242/,
  )
  await expect(saveSchedule(rig.services, { ...good, name: ' ' }, 'test')).rejects.toThrow(/its name/)
})
