import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { openServerRig, type ServerRig, work } from '../../tests/server-rig'
import { OverviewReader } from '../api/overview'
import { evaluateAlerts } from '../scheduler/evaluate-alerts'
import { sample } from '../scheduler/sample'
import { seedRuns } from '../scheduler/seed-runs'
import { settleEpoch } from '../services/epoch'
import { createRun } from '../services/runs'
import { databaseNow } from '../services/schedules'
import { evaluateRule } from './evaluate'
import { readRules, saveRule, silenceRule } from './rule-settings'
import { RULES, type RuleKind } from './rules'

const always = () => true
let rig: ServerRig
beforeAll(async () => {
  rig = await openServerRig()
  await settleEpoch(rig.services)
})
afterAll(() => rig.close())
beforeEach(async () => {
  for (const table of [
    'alerts',
    'alert_deliveries',
    'alert_channels',
    'alert_rules',
    'worker_events',
    'workers',
    'fires',
  ])
    await rig.services.database.pool.query(`DELETE FROM ${table}`)
})

/** A channel that nothing is sent to: what is written for it is looked at. */
async function aChannel(): Promise<number> {
  const [result] = await rig.services.database.pool.query(
    "INSERT INTO alert_channels (kind, name, enabled, language, settings, secrets, created_at, updated_at) VALUES ('webhook', 'w', true, 'en', '{}', '', UTC_TIMESTAMP(3), UTC_TIMESTAMP(3))",
  )
  return (result as { insertId: number }).insertId
}

const ruleOf = async (kind: RuleKind) => (await readRules(rig.services)).find((one) => one.kind === kind)!
const after = (from: Date, minutes: number) => new Date(from.getTime() + minutes * 60_000)
const look = async (kind: RuleKind, at: Date) => evaluateRule(rig.services, await ruleOf(kind), at)
const alerts = () =>
  rig.rows<{ rule: string; subject: string; state: string; figure: number; facts: string }>(
    'SELECT * FROM alerts ORDER BY id',
  )
const told = async () =>
  (await rig.rows<{ event: string }>('SELECT event FROM alert_deliveries ORDER BY id')).map(
    ({ event }) => event,
  )
const restart = (kind: string, detail = 'exit code 137') =>
  rig.rows(
    "INSERT INTO worker_events (worker_id, queue, kind, detail, at) VALUES ('w-1', ?, ?, ?, UTC_TIMESTAMP(3))",
    [rig.queue, kind, detail],
  )

/** A run of which `failed` pages of `all` fail with 403. */
async function aRun(all: number, failed: number): Promise<number> {
  const urls = Array.from({ length: all }, (_, n) => `http://h${n % 2}.test/${crypto.randomUUID()}`)
  const { id } = await createRun(rig.services, {
    spider: rig.spider.id,
    queue: rig.queue,
    seeds: urls.map((url) => ({ url })),
    trigger: 'cli',
  })
  await seedRuns(rig.services, always)
  const bad = new Set(urls.slice(0, failed))
  await work(rig, (url) => (bad.has(url) ? { state: 'failed' } : {}))
  await rig.rows(
    "UPDATE pages SET reason = 'blocked_403', status = 403 WHERE run_id = ? AND state = 'failed'",
    [id],
  )
  return id
}

test('every rule is on by default, and says nothing of an installation at rest', async () => {
  await evaluateAlerts(rig.services, always)
  expect((await readRules(rig.services)).every(({ enabled }) => enabled)).toBe(true)
  // How full the memory of this machine is, is no matter of the test.
  expect((await alerts()).filter(({ rule }) => rule !== 'redis_memory')).toEqual([])
})

test('success rate, restarts and memory are judged by the very figures of the overview', async () => {
  await aRun(40, 10)
  await restart('restart')
  await restart('oom')
  const at = await databaseNow(rig.services)
  const overview = await new OverviewReader(rig.services).read()
  const figure = async (kind: RuleKind, windowMinutes: number) =>
    (await RULES[kind].look(rig.services, at, { ...RULES[kind].defaults, windowMinutes })).find(
      ({ subject }) => subject === 'all',
    )?.figure
  expect(overview.successRate).toBe(0.75)
  expect(await figure('success_rate', 60)).toBe(overview.successRate)
  expect(await figure('restarts', 1440)).toBe(overview.restarts)
  expect(await figure('out_of_memory', 1440)).toBe(overview.outOfMemory)
})

test('anti-bot answers are told with their hosts, and the failed URLs of a run with the run', async () => {
  const run = await aRun(30, 30)
  await saveRule(rig.services, { ...input(await ruleOf('failed_urls')), threshold: 30 }, 'test')
  const at = await databaseNow(rig.services)
  await look('blocked', at)
  await look('failed_urls', at)
  const [blocked, failed] = await alerts()
  expect(blocked).toMatchObject({ subject: 'all', state: 'firing' })
  expect(JSON.parse(blocked!.facts).hosts).toMatch(/^h\d\.test \(\d+\), h\d\.test \(\d+\)$/)
  expect(failed).toMatchObject({ subject: `run:${run}`, figure: 30, state: 'firing' })
})

const input = ({ silentUntil: _, ...rule }: Awaited<ReturnType<typeof ruleOf>>) => rule

test('many schedulers that look at once open, fire, tell and end an alert once', async () => {
  await aChannel()
  const at = await databaseNow(rig.services)
  await saveRule(rig.services, { ...input(await ruleOf('restarts')), threshold: 1, holdMinutes: 3 }, 'test')
  await restart('restart')
  const together = (minutes: number) =>
    Promise.all(Array.from({ length: 6 }, () => look('restarts', after(at, minutes))))
  await together(0)
  expect(await alerts()).toMatchObject([{ state: 'pending', figure: 1 }])
  expect(await told()).toEqual([])
  await together(2)
  expect(await told()).toEqual([])
  await together(3)
  expect(await alerts()).toMatchObject([{ state: 'firing' }])
  expect(await told()).toEqual(['firing'])
  await rig.rows('DELETE FROM worker_events')
  await together(4)
  await together(8)
  expect(await told()).toEqual(['firing'])
  await together(9)
  expect(await alerts()).toMatchObject([{ state: 'resolved', open_key: null }])
  expect(await told()).toEqual(['firing', 'resolved'])
  // The next trouble is an alert of its own.
  await restart('restart')
  await together(10)
  await together(13)
  expect((await alerts()).map(({ state }) => state)).toEqual(['resolved', 'firing'])
  expect(await told()).toEqual(['firing', 'resolved', 'firing'])
})

test('of a silenced rule nothing is sent until the silence ends, and what fires meanwhile is in the history', async () => {
  await aChannel()
  const at = await databaseNow(rig.services)
  await restart('oom')
  await silenceRule(rig.services, 'out_of_memory', after(at, 30), 'test')
  await look('out_of_memory', at)
  expect(await alerts()).toMatchObject([{ state: 'firing', told: 0 }])
  expect(await told()).toEqual([])
  await look('out_of_memory', after(at, 31))
  expect(await told()).toEqual(['firing'])
})

test('a rule that is switched off ends its alerts without a word', async () => {
  await aChannel()
  const at = await databaseNow(rig.services)
  await restart('oom')
  await look('out_of_memory', at)
  await saveRule(rig.services, { ...input(await ruleOf('out_of_memory')), enabled: false }, 'test')
  await look('out_of_memory', after(at, 1))
  expect(await alerts()).toMatchObject([{ state: 'resolved' }])
  expect(await told()).toEqual(['firing'])
})

test('an alert goes to the channels of its rule alone, and to none that is switched off', async () => {
  const [first, second] = [await aChannel(), await aChannel()]
  const off = await aChannel()
  await rig.rows('UPDATE alert_channels SET enabled = false WHERE id = ?', [off])
  await saveRule(rig.services, { ...input(await ruleOf('out_of_memory')), channels: [second, off] }, 'test')
  await restart('oom')
  const at = await databaseNow(rig.services)
  await look('out_of_memory', at)
  expect(await rig.rows('SELECT channel_id FROM alert_deliveries')).toEqual([{ channel_id: second }])
  await restart('restart')
  await saveRule(rig.services, { ...input(await ruleOf('restarts')), threshold: 2 }, 'test')
  await look('restarts', at)
  expect(await rig.rows('SELECT channel_id FROM alert_deliveries ORDER BY id')).toEqual(
    [second, first, second].map((channel_id) => ({ channel_id })),
  )
})

test('a worker that says nothing is told of, and a queue whose URLs wait without any worker', async () => {
  await rig.rows(
    "INSERT INTO workers (id, kind, queue, hostname, pid, state, started_at, heartbeat_at) VALUES ('gone', 'http', ?, 'h', 1, 'lost', UTC_TIMESTAMP(3), UTC_TIMESTAMP(3) - INTERVAL 7 MINUTE), ('ended', 'http', ?, 'h', 1, 'stopped', UTC_TIMESTAMP(3), UTC_TIMESTAMP(3) - INTERVAL 7 MINUTE)",
    [rig.queue, rig.queue],
  )
  await rig.services.redis.rpush(rig.queue, 'http://waits.test/')
  await look('silent_worker', await databaseNow(rig.services))
  expect((await alerts()).map(({ subject, figure }) => [subject, figure])).toEqual([
    ['worker:gone', 7],
    [`queue:${rig.queue}`, 7],
  ])
  await rig.services.redis.del(rig.queue)
})

test('an alert goes on for as long as its figure is wrong, also when more than are told at once have become worse', async () => {
  const silent = (name: string, minutes: number) =>
    Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        rig.rows(
          "INSERT INTO workers (id, kind, queue, hostname, pid, state, started_at, heartbeat_at) VALUES (?, 'http', ?, 'h', 1, 'running', UTC_TIMESTAMP(3) - INTERVAL 1 HOUR, UTC_TIMESTAMP(3) - INTERVAL ? MINUTE)",
          [`${name}-${n}`, rig.queue, minutes],
        ),
      ),
    )
  const firing = async () =>
    (await alerts()).filter(({ state, subject }) => state === 'firing' && subject.startsWith('worker:first'))
  const at = await databaseNow(rig.services)
  await silent('first', 5)
  await look('silent_worker', at)
  expect(await firing()).toHaveLength(50)
  await silent('second', 20)
  for (const minutes of [1, 8]) await look('silent_worker', after(at, minutes))
  expect(await firing()).toHaveLength(50)
})

test('the age of a backlog is that of the URL that is next, not of the queue', async () => {
  const { pool } = rig.services.database
  await pool.query('DELETE FROM samples')
  const { totals } = await rig.services.queue(rig.queue).lengths()
  const ended = totals.done
  const line = (minutes: number, waited: number, done: number) =>
    pool.query(
      'INSERT INTO samples (queue, at, inbox, pending, running, retry, dead, done_total, failed_total, ignored_total, workers, restarts) VALUES (?, UTC_TIMESTAMP(3) - INTERVAL ? MINUTE, ?, 0, 0, 0, 0, ?, ?, ?, 0, 0)',
      [rig.queue, minutes, waited, done, totals.failed, totals.ignored],
    )
  // Ten had come by 300 minutes ago, and ten have ended since; two that came 200 minutes ago wait.
  await line(400, 0, ended - 10)
  await line(300, 10, ended - 10)
  await line(200, 12, ended - 10)
  await line(100, 2, ended)
  await rig.services.redis.rpush(rig.queue, 'http://a.test/', 'http://b.test/')
  const found = await RULES.backlog_age.look(
    rig.services,
    await databaseNow(rig.services),
    RULES.backlog_age.defaults,
  )
  expect(found).toEqual([
    { subject: `queue:${rig.queue}`, figure: 200, facts: { queue: rig.queue, waiting: 2 } },
  ])
  await rig.services.redis.del(rig.queue)
  await sample(rig.services, always)
})

test('a missed fire is told with its schedule, and a Redis that fills with how full it is', async () => {
  await rig.rows(
    "INSERT INTO schedules (id, spider_id, queue, name, cron, zone, decided_until, created_at, updated_at) VALUES (7, ?, ?, 'nightly', '0 * * * *', 'UTC', UTC_TIMESTAMP(3), UTC_TIMESTAMP(3), UTC_TIMESTAMP(3))",
    [rig.spider.id, rig.queue],
  )
  await rig.rows(
    "INSERT INTO fires (schedule_id, fire_at, kind, created_at) VALUES (7, UTC_TIMESTAMP(3), 'missed', UTC_TIMESTAMP(3))",
  )
  const at = await databaseNow(rig.services)
  await look('missed_fire', at)
  expect(await alerts()).toMatchObject([{ rule: 'missed_fire', subject: 'schedule:7', figure: 1 }])
  const [memory] = await RULES.redis_memory.look(rig.services, at, RULES.redis_memory.defaults)
  expect(memory!.figure).toBeGreaterThan(0)
  expect(memory!.figure).toBeLessThan(1)
})
