import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openServerRig, type ServerRig } from '../../tests/server-rig'
import { decide } from '../scheduler/fire'
import { runScheduleNow } from './fires'
import {
  countSchedules,
  deleteSchedule,
  enableSchedule,
  enableSchedules,
  listFires,
  listSchedules,
  previewFires,
  type ScheduleInput,
  saveSchedule,
} from './schedules'
import { saveSpider } from './spiders'

let rig: ServerRig
beforeAll(async () => {
  rig = await openServerRig()
  await saveSpider(rig.services, { name: rig.spider.name, seeds: ['http://schedules.test/'] }, 'test')
})
afterAll(() => rig.close())

const save = (input: Partial<ScheduleInput> = {}) =>
  saveSchedule(
    rig.services,
    { name: 'nightly', spider: rig.spider.id, queue: rig.queue, cron: '30 2 * * *', zone: 'UTC', ...input },
    'ann@x.test',
  )
const decidedUntil = (id: number, at: Date) =>
  rig.rows('UPDATE schedules SET decided_until = ? WHERE id = ?', [at, id])

test('the preview shows the instants at which the schedule will fire, across a change of the clock', () => {
  expect(previewFires('30 2 * * *', 'Europe/Berlin', 3, new Date('2026-03-28T00:00Z'))).toEqual([
    new Date('2026-03-28T01:30Z'),
    new Date('2026-03-29T01:00Z'),
    new Date('2026-03-30T00:30Z'),
  ])
  expect(() => previewFires('30 2 * *', 'UTC', 3)).toThrow(/"30 2 \* \* \*"/)
})

test('a schedule in the list says its spider and its next five fires; a stopped one has none to come', async () => {
  const { id } = await save({ name: 'listed', cron: '0 0 1 * *' })
  const listed = async () => (await listSchedules(rig.services)).find((one) => one.id === id)!
  const { next, spider } = await listed()
  expect(spider).toBe('rig')
  expect(next.map((fire) => fire.toISOString().slice(7))).toEqual(Array(5).fill('-01T00:00:00.000Z'))
  expect(next[0]!.getTime()).toBeGreaterThan(Date.now())
  await enableSchedule(rig.services, id, false, 'ann@x.test')
  expect((await listed()).next).toEqual([])
})

test('an edit keeps the schedule, and what its new expression would have fired before is not made up for', async () => {
  const { id } = await save({ missed: 'all', overlap: 'parallel' })
  const dayAgo = new Date(Date.now() - 86_400_000)
  await decidedUntil(id, dayAgo)
  const edited = await save({ id, cron: '* * * * *', missed: 'all', overlap: 'parallel' })
  expect(edited).toMatchObject({ id, cron: '* * * * *' })
  await decide(rig.services, id, edited.updatedAt)
  expect(await listFires(rig.services, id)).toEqual([])
  await decide(rig.services, id, new Date(edited.updatedAt.getTime() + 60_000))
  expect(await listFires(rig.services, id)).toHaveLength(1)
})

test('who made, changed, stopped and removed a schedule is on record', async () => {
  const { id } = await save()
  await save({ id, cron: '0 4 * * *' })
  await enableSchedule(rig.services, id, false, 'bob@x.test')
  await enableSchedule(rig.services, id, true, 'bob@x.test')
  await deleteSchedule(rig.services, id, 'eve@x.test')
  expect(
    await rig.rows(
      "SELECT actor, action FROM audit_log WHERE action LIKE 'schedule.%' AND subject = ? ORDER BY id",
      [String(id)],
    ),
  ).toEqual([
    { actor: 'ann@x.test', action: 'schedule.create' },
    { actor: 'ann@x.test', action: 'schedule.update' },
    { actor: 'bob@x.test', action: 'schedule.disable' },
    { actor: 'bob@x.test', action: 'schedule.enable' },
    { actor: 'eve@x.test', action: 'schedule.delete' },
  ])
})

test('a schedule that is removed fires no more, neither what waits; what it did stays on record', async () => {
  const { id } = await save({ cron: '0 * * * *', overlap: 'queue' })
  await decidedUntil(id, new Date('2026-06-01T00:00Z'))
  await decide(rig.services, id, new Date('2026-06-01T01:00:01Z'))
  await decide(rig.services, id, new Date('2026-06-01T02:00:01Z'))
  await deleteSchedule(rig.services, id, 'test')
  await rig.rows("UPDATE runs SET state = 'finished' WHERE schedule_id = ?", [id])
  await decide(rig.services, id, new Date('2026-06-01T03:00:01Z'))
  expect(await listFires(rig.services, id)).toMatchObject([
    { kind: 'skipped', reason: expect.stringContaining('deleted') },
    { kind: 'fired' },
  ])
  expect(await rig.rows('SELECT id FROM runs WHERE schedule_id = ?', [id])).toHaveLength(1)
})

test('the history of fires is read page by page, the latest time first, whenever each was written down', async () => {
  const { id } = await save({ cron: '0 * * * *', overlap: 'parallel', missed: 'skip' })
  const other = await save({ name: 'other' })
  for (const [from, to] of [
    ['04:00', '07:30'],
    ['00:00', '04:30'],
  ]) {
    await decidedUntil(id, new Date(`2026-06-01T${from}Z`))
    await decide(rig.services, id, new Date(`2026-06-01T${to}Z`))
  }
  await rig.rows(
    "INSERT INTO fires (schedule_id, fire_at, kind, created_at) SELECT ?, '2026-06-01' + INTERVAL seq MINUTE, 'fired', UTC_TIMESTAMP(3) FROM (WITH RECURSIVE n (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM n WHERE seq < 900) SELECT seq FROM n) AS numbers",
    [other.id],
  )
  const asked = vi.spyOn(rig.services.database.pool, 'query')
  const pages = []
  for (let before: Date | undefined; ; ) {
    const page = await listFires(rig.services, id, before, 3)
    if (page.length === 0) break
    pages.push(page.map(({ fireAt }) => fireAt.getUTCHours()))
    before = page.at(-1)!.fireAt
  }
  expect(pages).toEqual([[7, 6, 5], [4, 3, 2], [1]])

  const queries = asked.mock.calls as unknown as [{ sql: string }, unknown[]][]
  asked.mockRestore()
  expect(queries).toHaveLength(4)
  for (const [{ sql }, values] of queries) {
    const plan = await rig.rows<{ key: string; Extra: string }>(`EXPLAIN ${sql}`, values)
    expect(plan).toMatchObject([{ key: 'fires_one', Extra: expect.not.stringMatching(/filesort|temporary/) }])
  }
})

test('a schedule that is not there is named, whatever is wanted of it', async () => {
  for (const attempt of [
    () => save({ id: 424242 }),
    () => enableSchedule(rig.services, 424242, true, 'test'),
    () => deleteSchedule(rig.services, 424242, 'test'),
  ])
    await expect(attempt()).rejects.toThrow(/no schedule 424242/)
})

test('all schedules that match are stopped or resumed at once, and no others', async () => {
  for (const name of ['shop 100%', 'shop_a', 'shopXa', 'news']) await save({ name })
  const stopped = async () =>
    (await listSchedules(rig.services, { enabled: false })).map(({ name }) => name).sort()
  const before = await stopped()
  expect(await enableSchedules(rig.services, { search: 'shop_' }, false, 'ann@x.test')).toBe(1)
  expect(await enableSchedules(rig.services, { search: '0%' }, false, 'ann@x.test')).toBe(1)
  expect(await stopped()).toEqual([...before, 'shop 100%', 'shop_a'].sort())
  expect(await countSchedules(rig.services, { search: 'shop' })).toEqual({ enabled: 1, stopped: 2 })
  expect(await enableSchedules(rig.services, { search: 'shop' }, true, 'ann@x.test')).toBe(2)
  expect(await stopped()).toEqual(before)
})

test('a run by hand begins at once, is in the history with who asked, and does not move the schedule', async () => {
  const { id, decidedUntil } = await save({ name: 'by hand', overlap: 'skip' })
  const first = await runScheduleNow(rig.services, id, 'ann@x.test')
  const second = await runScheduleNow(rig.services, id, 'ann@x.test')
  expect(await listFires(rig.services, id)).toMatchObject([
    { kind: 'fired', runId: second, reason: 'started by hand by ann@x.test' },
    { kind: 'fired', runId: first },
  ])
  expect((await listSchedules(rig.services, { id }))[0]!.decidedUntil).toEqual(decidedUntil)
  await rig.rows('UPDATE schedules SET spider_id = 424242 WHERE id = ?', [id])
  await expect(runScheduleNow(rig.services, id, 'ann@x.test')).rejects.toThrow(/nothing to run/)
  expect(await listFires(rig.services, id)).toHaveLength(2)
})
