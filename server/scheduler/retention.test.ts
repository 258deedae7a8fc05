import { afterAll, beforeAll, expect, test } from 'vitest'
import { openServerRig, type ServerRig, work } from '../../tests/server-rig'
import { auditRun } from '../services/audit-run'
import { settleEpoch } from '../services/epoch'
import { createRun } from '../services/runs'
import { finishRuns } from './finish-runs'
import { retain } from './retention'
import { seedRuns } from './seed-runs'

const always = () => true
let rig: ServerRig
beforeAll(async () => {
  rig = await openServerRig()
  await settleEpoch(rig.services)
})
afterAll(() => rig.close())

test('a day after its end Redis lets go of a run, unless it has failures that may be tried again; the record stays', async () => {
  const ids: number[] = []
  for (const state of ['done', 'failed'] as const) {
    const { id } = await createRun(rig.services, {
      spider: rig.spider.id,
      queue: rig.queue,
      seeds: [{ url: `http://retention.test/${state}` }],
      trigger: 'cli',
    })
    ids.push(id)
    await seedRuns(rig.services, always)
    await work(rig, () => ({ state }))
    await finishRuns(rig.services, always)
  }
  const known = async () =>
    Promise.all(ids.map(async (id) => (await rig.services.queue(rig.queue).counts(id)).admitted))
  await retain(rig.services, always)
  expect(await known()).toEqual([1, 1])
  await rig.rows('UPDATE runs SET finished_at = finished_at - INTERVAL 25 HOUR')
  await retain(rig.services, always)
  expect(await known()).toEqual([0, 1])
  expect((await auditRun(rig.services, ids[0]!)).ok).toBe(true)
  expect(await rig.rows('SELECT COUNT(*) AS n FROM pages')).toEqual([{ n: 2 }])
})

test('a run whose process died while it wrote the seeds is cleared away a day later, with its seeds and no others', async () => {
  await rig.rows(
    "INSERT INTO runs (spider_id, queue, definition, state, `trigger`, created_at) VALUES (?, ?, '{}', 'preparing', 'cli', UTC_TIMESTAMP(3))",
    [rig.spider.id, rig.queue],
  )
  const [run] = await rig.rows<{ id: number }>("SELECT id FROM runs WHERE state = 'preparing'")
  await rig.rows(
    'INSERT INTO seeds (spider_id, run_id, url, url_hash, created_at) VALUES (?, ?, "http://a/", REPEAT("a", 32), UTC_TIMESTAMP(3)), (?, 0, "http://b/", REPEAT("b", 32), UTC_TIMESTAMP(3))',
    [rig.spider.id, run!.id, rig.spider.id],
  )
  const left = () => rig.rows("SELECT url FROM seeds WHERE url IN ('http://a/', 'http://b/')")
  await retain(rig.services, always)
  expect(await left()).toHaveLength(2)
  await rig.rows('UPDATE runs SET created_at = created_at - INTERVAL 25 HOUR')
  await retain(rig.services, always)
  expect(await left()).toEqual([{ url: 'http://b/' }])
  expect(await rig.rows("SELECT id FROM runs WHERE state = 'preparing'")).toEqual([])
})

test('when the scheduler stops half-way, what is left of such a run is found again', async () => {
  await rig.rows(
    "INSERT INTO runs (spider_id, queue, definition, state, `trigger`, created_at) VALUES (?, ?, '{}', 'preparing', 'cli', UTC_TIMESTAMP(3) - INTERVAL 25 HOUR)",
    [rig.spider.id, rig.queue],
  )
  await retain(rig.services, () => false)
  const left = () => rig.rows("SELECT id FROM runs WHERE state = 'preparing'")
  expect(await left()).toHaveLength(1)
  await retain(rig.services, always)
  expect(await left()).toEqual([])
})

test('samples, events and ended workers go after 90 days; newer ones and workers that run stay', async () => {
  const ages = [91, 89]
  for (const days of ages) {
    const at = `UTC_TIMESTAMP(3) - INTERVAL ${days} DAY`
    await rig.rows(
      `INSERT INTO samples (queue, at, inbox, pending, running, retry, dead, done_total, failed_total, ignored_total, workers, restarts) VALUES ('q', ${at}, 0, 0, 0, 0, 0, ${days}, 0, 0, 0, 0)`,
    )
    await rig.rows(
      `INSERT INTO worker_events (worker_id, queue, kind, at) VALUES ('${days}', 'q', 'start', ${at})`,
    )
    for (const state of ['stopped', 'lost', 'running'])
      await rig.rows(
        `INSERT INTO workers (id, kind, queue, hostname, pid, state, started_at, heartbeat_at) VALUES ('${days}-${state}', 'http', 'q', 'h', 1, '${state}', ${at}, ${at})`,
      )
  }
  await retain(rig.services, always)
  expect(await rig.rows('SELECT done_total AS days FROM samples')).toEqual([{ days: 89 }])
  expect(await rig.rows('SELECT worker_id AS days FROM worker_events')).toEqual([{ days: '89' }])
  expect(await rig.rows('SELECT id FROM workers ORDER BY id')).toEqual(
    ['89-lost', '89-running', '89-stopped', '91-running'].map((id) => ({ id })),
  )
})
