import { afterEach, beforeEach, expect, test } from 'vitest'
import { readHost } from '../../core/queue/hosts'
import { frontierKeys } from '../../core/queue/keys'
import { openServerRig, type ServerRig, work } from '../../tests/server-rig'
import { seedRuns } from '../scheduler/seed-runs'
import { repeatSettings } from '../scheduler/settings'
import { purgeQueue } from './purge'
import { setHostDelay, viewHosts } from './queue-hosts'
import { configureQueue, drainQueue, pauseQueue, resumeQueue } from './queues'
import { cancelRun, createRun, getRun } from './runs'
import { type Cause, whyWaiting } from './why'

let rig: ServerRig
beforeEach(async () => {
  rig = await openServerRig()
})
afterEach(() => rig.close())

const always = () => true
const queue = () => rig.services.queue(rig.queue)

async function aRun(urls: string[], definition?: object): Promise<number> {
  const { id } = await createRun(rig.services, {
    spider: rig.spider.id,
    queue: rig.queue,
    seeds: urls.map((url) => ({ url })),
    trigger: 'manual',
    ...(definition && { definition: { ...rig.spider.definition, ...definition } }),
  })
  await seedRuns(rig.services, always)
  return id
}

const urls = (many: number, host = 'a.test') => Array.from({ length: many }, (_, n) => `https://${host}/${n}`)

async function why(url: string, run?: number) {
  const { state, causes } = await whyWaiting(rig.services, { queue: rig.queue, url, run })
  return { state, kinds: causes.map((cause) => cause.kind), causes }
}
const cause = async <K extends Cause['kind']>(url: string, kind: K) =>
  (await why(url)).causes.find((one): one is Extract<Cause, { kind: K }> => one.kind === kind)

async function aWorker(): Promise<void> {
  await rig.rows(
    "INSERT INTO workers (id, kind, queue, hostname, pid, state, started_at, heartbeat_at) VALUES ('w1', 'http', ?, 'h', 1, 'running', UTC_TIMESTAMP(3), UTC_TIMESTAMP(3))",
    [rig.queue],
  )
}

test('a purge drops no more than was confirmed, and every URL and entry of it can still be found', async () => {
  const run = await aRun(urls(30))
  await rig.services.redis.rpush(rig.queue, 'https://b.test/1', 'https://b.test/2', 'https://b.test/3')
  expect(await purgeQueue(rig.services, rig.queue, 32, 'lin@example.com')).toEqual({
    cancelled: 30,
    rejected: 2,
  })
  expect(await queue().counts(run)).toMatchObject({ admitted: 30, cancelled: 30, pending: 0 })
  expect(await queue().lengths()).toMatchObject({ inbox: 1, rejected: 2 })
  const [entry] = await rig.services.redis.lrange(`${rig.queue}:rejected`, 0, 0)
  expect(JSON.parse(entry!)).toMatchObject({ entry: 'https://b.test/1', reason: 'purged by lin@example.com' })
  expect(await rig.rows("SELECT actor FROM audit_log WHERE action = 'queue.purge'")).toEqual([
    { actor: 'lin@example.com' },
  ])
  expect((await queue().audit(true)).violations).toEqual([])
  expect(await why('https://a.test/3')).toMatchObject({ state: 'cancelled', kinds: ['cancelled'] })
})

test('a draining queue works off what it has, and begins a run only once it is resumed', async () => {
  const before = await aRun(urls(3))
  await drainQueue(rig.services, rig.queue, 'me')
  const later = await aRun(urls(2, 'later.test'))
  expect(await work(rig)).toHaveLength(3)
  expect((await getRun(rig.services, later)).state).toBe('seeding')
  expect(await why('https://later.test/1', later)).toMatchObject({ kinds: ['draining', 'seedWaits'] })
  await resumeQueue(rig.services, rig.queue, 'me')
  await seedRuns(rig.services, always)
  expect(await work(rig)).toHaveLength(2)
  expect((await queue().counts(before)).done).toBe(3)
})

test('a host’s delay is on record: a Redis that lost it has it again with the scheduler’s next turn', async () => {
  await aRun(urls(3))
  await setHostDelay(rig.services, rig.queue, 'a.test', 90_000, 'lin@example.com')
  expect(await readHost(queue(), 'a.test')).toMatchObject({ rateMs: 90_000 })
  await rig.services.redis.unlink(...frontierKeys(rig.queue))
  await repeatSettings(rig.services, () => true)
  expect(await readHost(queue(), 'a.test')).toMatchObject({ rateMs: 90_000 })
  await setHostDelay(rig.services, rig.queue, 'a.test', null, 'lin@example.com')
  await repeatSettings(rig.services, () => true)
  expect(await readHost(queue(), 'a.test')).toMatchObject({ rateMs: null })
  for (const host of ['https://a.test/', 'A.test', 'a b', ''])
    await expect(setHostDelay(rig.services, rig.queue, host, 1, 'x')).rejects.toThrow(/not a host/)
  await expect(setHostDelay(rig.services, rig.queue, 'a.test', -1, 'x')).rejects.toThrow(/0 to 86400000/)
})

test('a host is listed with its newest failure', async () => {
  await aRun([...urls(2), ...urls(1, 'b.test')])
  await work(rig, (url) => (url.endsWith('a.test/0') ? { state: 'failed' } : {}), 1)
  const { hosts } = await viewHosts(rig.services, rig.queue, { limit: 10 })
  expect(hosts.map(({ host, pending, lastError }) => [host, pending, lastError?.reason])).toEqual([
    ['a.test', 1, 'http_404'],
    ['b.test', 1, undefined],
  ])
})

test('why a URL waits names each limit, who holds it and until when', async () => {
  await configureQueue(rig.services, rig.queue, { delayMs: 60_000 }, 'me')
  await aRun(urls(4))
  const line: string[] = []
  for (const url of urls(4)) line[(await cause(url, 'ahead'))?.many ?? 0] = url
  const [first, second, , last] = line as [string, string, string, string]
  expect((await why(last)).kinds).toEqual(['noWorker', 'ahead'])
  await aWorker()
  expect((await why(last)).kinds).toEqual(['ahead'])
  expect((await why(first)).kinds).toEqual(['next'])

  const { leases } = await queue().claim({
    max: 1,
    leaseMs: 30_000,
    hardMs: 60_000,
    settingsVersion: 0,
    worker: 'w1',
  })
  expect(await cause(leases[0]!.url, 'running')).toMatchObject({ worker: 'w1', until: expect.any(Number) })
  expect((await why(second)).kinds).toEqual(['delay', 'hostFull'])
  expect(await cause(second, 'delay')).toMatchObject({ source: 'queue', delayMs: 60_000 })
  expect(await cause(second, 'hostFull')).toMatchObject({
    limit: 1,
    holders: [{ worker: 'w1', url: leases[0]!.url }],
  })

  await setHostDelay(rig.services, rig.queue, 'a.test', 120_000, 'me')
  expect(await cause(second, 'delay')).toMatchObject({ source: 'operator', delayMs: 120_000 })
  await queue().setHostDelay('a.test', 200_000)
  expect(await cause(second, 'delay')).toMatchObject({ source: 'robots', delayMs: 200_000 })
  await queue().hold('a.test', 500_000)
  await configureQueue(rig.services, rig.queue, { maxRunning: 1 }, 'me')
  await pauseQueue(rig.services, rig.queue, 'lin@example.com')
  expect((await why(second)).kinds).toEqual(['paused', 'maxRunning', 'held', 'delay', 'hostFull'])
  expect(await cause(second, 'paused')).toMatchObject({
    by: 'lin@example.com',
    since: expect.any(Number),
  })

  await queue().begin(leases)
  await queue().retry(leases[0]!, 60_000)
  expect(await cause(leases[0]!.url, 'retry')).toMatchObject({ attempts: 1, due: expect.any(Number) })
})

test('why a URL is not there at all is told by the run’s rules', async () => {
  const run = await aRun(['https://a.test/'], {
    maxPages: 2,
    follow: { scope: 'host', allow: [], deny: ['/private/'], depth: null },
  })
  await work(rig)
  expect(await why('https://a.test/')).toMatchObject({ state: 'done', kinds: ['ended'] })
  expect((await why('https://a.test/private/1')).kinds).toEqual(['pattern'])
  expect(await why('https://elsewhere.test/')).toMatchObject({
    kinds: ['scope'],
    causes: [{ scope: 'host' }],
  })
  expect(await why('https://a.test/nobody-links-here')).toMatchObject({
    state: 'unknown',
    kinds: ['unlinked'],
  })
  await rig.rows("UPDATE runs SET state = 'running' WHERE id = ?", [run])
  await queue().openRun(run, { dedupe: { scope: 'run', kind: 'exact' }, maxPages: 2 })
  await queue().admit(run, [
    { url: 'https://a.test/2', id: 'x'.repeat(22), host: 'a.test', depth: 0, priority: 0 },
  ])
  expect((await why('https://a.test/nobody-links-here')).kinds).toEqual(['full'])
  await cancelRun(rig.services, run, 'me')
  await expect(why('no url')).rejects.toThrow(/not a URL/)
  await expect(why('https://a.test/', run + 1000)).rejects.toThrow(/no run/)
})
