import { afterAll, beforeAll, expect, test } from 'vitest'
import { setEnv } from '../../core/env'
import { failedKey, frontierKeys } from '../../core/queue/keys'
import { openServerRig, type ServerRig, task, work } from '../../tests/server-rig'
import type { Reason } from '../../worker/outcome'
import { auditRun } from '../services/audit-run'
import { dropQueue } from '../services/drop-queue'
import { settleEpoch } from '../services/epoch'
import { configureQueue, pauseQueue } from '../services/queues'
import { createRun, getRun } from '../services/runs'
import { finishRuns } from './finish-runs'
import { guardEpoch } from './guard-epoch'
import { reap } from './reap'
import { sample } from './sample'
import { seedRuns } from './seed-runs'
import { repeatSettings } from './settings'
import { watchWorkers } from './watch-workers'

const always = () => true
let rig: ServerRig
beforeAll(async () => {
  rig = await openServerRig()
  await settleEpoch(rig.services)
})
afterAll(() => rig.close())

async function startRun(url: string): Promise<number> {
  const { id } = await createRun(rig.services, {
    spider: rig.spider.id,
    queue: rig.queue,
    seeds: [{ url }],
    trigger: 'cli',
  })
  await seedRuns(rig.services, always)
  return id
}

/** Takes a page like a worker that vanishes in the middle of it, and waits until its lease has lapsed. */
async function vanish(): Promise<void> {
  const queue = rig.services.queue(rig.queue)
  const { leases } = await queue.claim({ max: 1, leaseMs: 20, hardMs: 20, settingsVersion: 0 })
  expect(leases).toHaveLength(1)
  await queue.begin(leases)
  while ((await queue.extend(leases, 20)).length === 0);
}

test('a page that takes its workers down becomes a dead letter with a row, and its run finishes', async () => {
  setEnv({ MAX_DELIVERIES: '3' })
  const id = await startRun('http://poison.test/')
  for (let n = 0; n < 3; n++) {
    await vanish()
    await Promise.all([reap(rig.services, always), reap(rig.services, always)])
  }
  const rows = await rig.rows('SELECT url, state, reason FROM pages WHERE run_id = ?', [id])
  const [told] = await rig.services.redis.lrange(failedKey(rig.queue), -1, -1)
  // Both are written where the table of reasons can't be imported.
  const reason: Reason = 'worker_lost'
  expect(rows).toEqual([{ url: 'http://poison.test/', state: 'failed', reason }])
  expect(JSON.parse(told!)).toMatchObject({ url: 'http://poison.test/', reason })
  await finishRuns(rig.services, always)
  expect(await getRun(rig.services, id)).toMatchObject({ state: 'finished', admitted: 1, failed: 1 })
  const { checks } = await auditRun(rig.services, id)
  expect(checks.find(({ name }) => name === 'Every outcome is stored')).toMatchObject({ ok: true })
})

test('a dead letter whose scheduler ended before it wrote the row gets it before the run is finished', async () => {
  const id = await startRun('http://poison.test/unrecorded')
  for (let n = 0; n < 2; n++) {
    await vanish()
    await rig.services.queue(rig.queue).reap(10, 2)
  }
  expect(await rig.rows('SELECT url FROM pages WHERE run_id = ?', [id])).toEqual([])
  await finishRuns(rig.services, always)
  expect(await rig.rows('SELECT url, state FROM pages WHERE run_id = ?', [id])).toEqual([
    { url: 'http://poison.test/unrecorded', state: 'failed' },
  ])
})

test('a run of the inbox stays open for a minute after its last entry, then takes no more and finishes', async () => {
  const { spiderId, definition } = await getRun(rig.services, await startRun('http://inbox.test/before'))
  await work(rig)
  await finishRuns(rig.services, always)
  await rig.rows(
    "INSERT INTO runs (spider_id, queue, definition, state, `trigger`, open_key, epoch, created_at) VALUES (?, ?, ?, 'running', 'inbox', ?, (SELECT epoch FROM dispatcher), UTC_TIMESTAMP(3))",
    [spiderId, rig.queue, JSON.stringify(definition), `${rig.queue}/${spiderId}`],
  )
  const [run] = await rig.rows<{ id: number }>("SELECT id FROM runs WHERE `trigger` = 'inbox'")
  const id = run!.id
  const queue = rig.services.queue(rig.queue)
  await queue.openRun(id, { dedupe: { scope: 'run', kind: 'exact' }, maxPages: null })
  await queue.admit(id, [task('http://inbox.test/')])
  const look = async () => {
    await finishRuns(rig.services, always)
    return getRun(rig.services, id)
  }
  await rig.rows('UPDATE runs SET created_at = created_at - INTERVAL 1 HOUR WHERE id = ?', [id])
  expect(await look()).toMatchObject({ state: 'running', openKey: `${rig.queue}/${spiderId}` })
  await work(rig)
  await rig.rows(
    'INSERT INTO seeds (spider_id, run_id, url, url_hash, created_at) VALUES (?, ?, "http://inbox.test/", REPEAT("x", 32), UTC_TIMESTAMP(3))',
    [spiderId, id],
  )
  expect((await look()).openKey).not.toBeNull()
  await rig.rows('UPDATE seeds SET created_at = created_at - INTERVAL 61 SECOND WHERE run_id = ?', [id])
  expect(await look()).toMatchObject({ state: 'running', openKey: null })
  expect(await look()).toMatchObject({ state: 'finished', done: 1 })
})

test('a worker that goes silent is lost once, and lives again when it speaks', async () => {
  const insert = (id: string, silent: number) =>
    rig.rows(
      "INSERT INTO workers (id, kind, queue, hostname, pid, state, running, started_at, heartbeat_at) VALUES (?, 'http', ?, 'h', 1, 'running', 3, UTC_TIMESTAMP(3), UTC_TIMESTAMP(3) - INTERVAL ? SECOND)",
      [id, rig.queue, silent],
    )
  await insert('silent', 30)
  await insert('alive', 5)
  await Promise.all([watchWorkers(rig.services), watchWorkers(rig.services)])
  await watchWorkers(rig.services)
  expect(await rig.rows('SELECT id, state FROM workers ORDER BY id')).toEqual([
    { id: 'alive', state: 'running' },
    { id: 'silent', state: 'lost' },
  ])
  expect(await rig.rows('SELECT worker_id, kind FROM worker_events')).toEqual([
    { worker_id: 'silent', kind: 'lost' },
  ])
})

test('a queue that a worker serves before anybody asked for it gets its settings and its place in the record', async () => {
  const name = `${rig.queue}-second`
  await rig.rows(
    "INSERT INTO workers (id, kind, queue, hostname, pid, state, started_at, heartbeat_at) VALUES ('second', 'http', ?, 'h', 1, 'running', UTC_TIMESTAMP(3), UTC_TIMESTAMP(3))",
    [name],
  )
  await Promise.all([watchWorkers(rig.services), watchWorkers(rig.services)])
  expect(await rig.rows('SELECT name, delay_ms FROM queues WHERE name = ?', [name])).toEqual([
    { name, delay_ms: 1000 },
  ])
  const claimed = await rig.services
    .queue(name)
    .claim({ max: 1, leaseMs: 1000, hardMs: 1000, settingsVersion: 0 })
  expect(claimed.settings).toMatchObject({ delayMs: 1000, concurrency: 16 })
  // A queue that is dropped stays dropped, though its worker may have been killed and be on record as running.
  await dropQueue(rig.services, name)
  await watchWorkers(rig.services)
  expect(await rig.rows('SELECT name FROM queues WHERE name = ?', [name])).toEqual([])
  expect(await rig.services.redis.exists(...frontierKeys(name))).toBe(0)
})

test('a minute has one sample a queue, however many schedulers write it', async () => {
  await Promise.all([
    sample(rig.services, always),
    sample(rig.services, always),
    sample(rig.services, always),
  ])
  const rows = await rig.rows<{ n: number }>(
    'SELECT COUNT(*) AS n FROM samples WHERE queue = ? GROUP BY at',
    [rig.queue],
  )
  expect(rows.every(({ n }) => n === 1)).toBe(true)
  expect(
    await rig.rows('SELECT done_total FROM samples WHERE queue = ? ORDER BY at DESC LIMIT 1', [rig.queue]),
  ).toEqual([{ done_total: 2 }])
})

test('pause and limits come back by themselves after Redis has lost them, before anything can be claimed', async () => {
  await configureQueue(rig.services, rig.queue, { delayMs: 1234, maxRunning: 7 }, 'me')
  await pauseQueue(rig.services, rig.queue, 'me')
  const id = await startRun('http://paused.test/')
  const settings = async () =>
    (await rig.services.queue(rig.queue).claim({ max: 1, leaseMs: 1000, hardMs: 1000, settingsVersion: 999 }))
      .settings
  const before = await settings()
  expect(before).toMatchObject({ delayMs: 1234, maxRunning: 7, paused: true })
  await repeatSettings(rig.services, always)
  expect(await settings()).toEqual(before)
  await rig.services.redis.del(await rig.services.redis.keys(`*${rig.queue}*`))
  await rig.rows('UPDATE queues SET created_at = created_at - INTERVAL 1 MINUTE')
  await guardEpoch(rig.services, always)
  expect(await work(rig)).toEqual([])
  expect((await rig.services.queue(rig.queue).counts(id)).pending).toBe(1)
  expect(await settings()).toMatchObject({ delayMs: 1234, maxRunning: 7, paused: true })
})
