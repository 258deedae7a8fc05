import { afterEach, describe, expect, test } from 'vitest'
import { addressTurn } from './address-turn'
import { readHost, readShares } from './hosts'
import { addressesKey, addressLineKey } from './keys'
import type { Queue } from './queue'
import { another, claim, done, EXACT, freshQueue, task, tasks, turnClock } from './queue-fixture'
import type { Lease, QueueSettings } from './task'

/** Every time here is one the test sets: no waiting, and exact to the millisecond. */
const setClock = turnClock()
const open: Queue[] = []

async function workers(many: number, settings: Partial<QueueSettings>): Promise<Queue[]> {
  const first = await freshQueue(settings)
  const all = [first]
  while (all.length < many) all.push(await another(first))
  open.push(...all)
  await setClock(first, 0)
  await first.openRun(1, { dedupe: EXACT, maxPages: null })
  return all
}

afterEach(async () => {
  for (const queue of open.splice(0)) {
    const found = await queue.redis.keys(`*${queue.name}*`)
    if (found.length > 0) await queue.redis.unlink(found)
    queue.redis.disconnect()
  }
})

interface Fetch {
  host: string
  start: number
  end: number
}

/** Workers that claim, begin, fetch for `fetchMs` and acknowledge, a step at a time, until nothing is left. */
async function crawl(queues: Queue[], many: number, fetchMs: number, stepMs: number): Promise<Fetch[]> {
  const fetches: Fetch[] = []
  const held = queues.map(() => [] as { lease: Lease; end: number }[])
  for (let now = 0; fetches.length < many || held.some((list) => list.length > 0); now += stepMs) {
    if (now > 600_000) throw new Error(`stuck: ${fetches.length} of ${many} fetched`)
    await setClock(queues[0]!, now)
    for (const [at, queue] of queues.entries()) {
      const ended = held[at]!.filter(({ end }) => end <= now)
      held[at] = held[at]!.filter(({ end }) => end > now)
      if (ended.length > 0) await queue.ack(ended.map(({ lease }) => done(lease)))
      const leases = await claim(queue, 4, 60_000, 60_000)
      if (leases.length > 0) expect(new Set(await queue.begin(leases))).toEqual(new Set(['OK']))
      for (const lease of leases) {
        held[at]!.push({ lease, end: now + fetchMs })
        fetches.push({ host: lease.host, start: now, end: now + fetchMs })
      }
    }
  }
  return fetches
}

const byHost = (fetches: Fetch[], host: string) => fetches.filter((one) => one.host === host)
const gaps = (fetches: Fetch[]) => fetches.slice(1).map(({ start }, at) => start - fetches[at]!.start)

describe('over all workers', () => {
  test('two fetches of a host start at least the delay less its jitter apart, and on average the delay', async () => {
    const queues = await workers(4, { delayMs: 500, perHost: 8 })
    await queues[0]!.admit(1, [...tasks(40), ...tasks(40, { host: 'b.example' }, 100)])
    const fetches = await crawl(queues, 80, 20, 10)
    for (const host of ['a.example', 'b.example']) {
      const apart = gaps(byHost(fetches, host))
      expect(Math.min(...apart)).toBeGreaterThanOrEqual(335)
      expect(Math.max(...apart)).toBeLessThanOrEqual(665 + 20)
      expect(apart.reduce((sum, gap) => sum + gap) / apart.length).toBeGreaterThan(450)
      expect(new Set(apart).size).toBeGreaterThan(10)
    }
  })

  test('with a delay one fetch at a time, however long it takes, and the delay counts from its start', async () => {
    const queues = await workers(3, { delayMs: 100, perHost: 8 })
    await queues[0]!.admit(1, tasks(10))
    const fetches = await crawl(queues, 10, 300, 10)
    for (const [at, gap] of gaps(fetches).entries()) {
      expect(fetches[at + 1]!.start).toBeGreaterThanOrEqual(fetches[at]!.end)
      expect(gap).toBeLessThanOrEqual(310)
    }
  })

  test('without a delay as many at once as perHost says, no more', async () => {
    const queues = await workers(3, { delayMs: 0, perHost: 5 })
    await queues[0]!.admit(1, tasks(40))
    const fetches = await crawl(queues, 40, 50, 10)
    const atOnce = fetches.map(
      ({ start }) => fetches.filter((one) => one.start <= start && start < one.end).length,
    )
    expect(Math.max(...atOnce)).toBe(5)
  })

  test('maxRunning caps them all together', async () => {
    const queues = await workers(3, { maxRunning: 7 })
    await queues[0]!.admit(1, tasks(40))
    const fetches = await crawl(queues, 40, 50, 10)
    const atOnce = fetches.map(
      ({ start }) => fetches.filter((one) => one.start <= start && start < one.end).length,
    )
    expect(Math.max(...atOnce)).toBe(7)
  })
})

describe('a host', () => {
  test('whose fetch begins late after its claim still gets its whole delay from the start', async () => {
    const [queue] = await workers(1, { delayMs: 1000 })
    await queue!.admit(1, tasks(2))
    const [lease] = await claim(queue!, 1, 60_000, 60_000)
    await setClock(queue!, 5000)
    await queue!.begin([lease!])
    await queue!.ack([done(lease!)])
    await setClock(queue!, 5669)
    expect(await claim(queue!)).toEqual([])
    await setClock(queue!, 6331)
    expect(await claim(queue!)).toHaveLength(1)
  })

  test('that asks for patience gets it, and claims say when it is over', async () => {
    const [queue] = await workers(1, {})
    await queue!.admit(1, tasks(3))
    await queue!.hold('a.example', 5000)
    const asked = await queue!.claim({ max: 4, leaseMs: 1000, hardMs: 1000, settingsVersion: 1 })
    expect(asked).toMatchObject({ leases: [], waitMs: 5000 })
    await queue!.hold('a.example', 10)
    await queue!.configure({ delayMs: 5, perHost: 1, concurrency: 1, maxRunning: null, paused: false })
    await setClock(queue!, 4999)
    expect(await claim(queue!)).toEqual([])
    await setClock(queue!, 5000)
    expect(await claim(queue!)).toHaveLength(1)
  })

  test('with a delay of its own gets that when it is the longer, one fetch at a time, until it is removed', async () => {
    const queues = await workers(2, { delayMs: 0, perHost: 9 })
    const [queue] = queues
    await queue!.setHostDelay('a.example', 2000)
    await queue!.admit(1, tasks(4))
    expect(Math.min(...gaps(await crawl(queues, 4, 20, 100)))).toBeGreaterThanOrEqual(2000)
    await queue!.setHostDelay('a.example', 0)
    await setClock(queue!, 100_000)
    await queue!.admit(1, tasks(4, {}, 10))
    expect(await claim(queue!)).toHaveLength(4)
  })

  test('without work is forgotten once its delay is over, its own delay a day later', async () => {
    const [queue] = await workers(1, { delayMs: 1000 })
    await queue!.admit(1, [task(1), task(2, { host: 'b.example' })])
    await queue!.setHostDelay('b.example', 10)
    await queue!.ack((await claim(queue!)).map((lease) => done(lease)))
    const known = async (ms: number) => {
      await setClock(queue!, ms)
      await queue!.reap(1, 1)
      return (await queue!.lengths()).hosts
    }
    expect(await known(600)).toBe(2)
    expect(await known(1400)).toBe(1)
    expect(await known(86_400_000)).toBe(1)
    expect(await known(86_402_000)).toBe(0)
  })
})

test('a retry waits its time, then goes; claims say when', async () => {
  const [queue] = await workers(1, {})
  await queue!.admit(1, tasks(1))
  const [lease] = await claim(queue!)
  await queue!.retry(lease!, 2000)
  expect(await queue!.claim({ max: 1, leaseMs: 1, hardMs: 1, settingsVersion: 1 })).toMatchObject({
    waitMs: 2000,
  })
  await setClock(queue!, 2000)
  expect((await claim(queue!))[0]).toMatchObject({ attempts: 1 })
})

test('a lease is renewed up to its hard limit and not a moment longer', async () => {
  const [queue] = await workers(1, {})
  await queue!.admit(1, tasks(1))
  const [lease] = await claim(queue!, 1, 1000, 2500)
  await setClock(queue!, 900)
  expect(await queue!.extend([lease!], 1000)).toEqual([])
  await setClock(queue!, 1850)
  expect(await queue!.extend([lease!], 1000)).toEqual([])
  await setClock(queue!, 2500)
  expect(await queue!.extend([lease!], 1000)).toEqual([lease!.ref])
  expect(await queue!.reap(10, 5)).toEqual({ returned: 1, dead: [] })
})

test('a fetch of no run gets its turn at a host that a crawl keeps busy, nothing else of the host begins meanwhile, and the delay counts from it', async () => {
  const [queue] = await workers(1, { delayMs: 1000 })
  const turn = async (kept: number | '') =>
    (await queue!.script('turn', ['a.example', 5000, 30_000, kept])) as [number, number, number]
  await queue!.admit(1, tasks(3))
  const [first] = await claim(queue!, 1)
  await queue!.begin([first!])
  await queue!.ack([done(first!)])
  const [wait, end] = await turn('')
  expect(wait).toBeGreaterThan(600)
  await setClock(queue!, 1400)
  expect(await claim(queue!, 1)).toEqual([])
  const [now, began, at] = await turn(end)
  expect([now, at > 0]).toEqual([0, true])
  await setClock(queue!, 1500)
  expect(await claim(queue!, 1)).toEqual([])
  expect(await queue!.script('end-turn', ['a.example', 7, began, at])).toBe('OK')
  expect(await claim(queue!, 1)).toEqual([])
  await setClock(queue!, 2800)
  expect(await claim(queue!, 1)).toHaveLength(1)
  expect(await queue!.script('turn', ['a.example', 5000, 10, ''])).toEqual([expect.any(Number), 0, 0])
})

describe('the pace of a host', () => {
  const host = 'a.example'
  const paceOf = async (queue: Queue) => (await readHost(queue, host)).paceMs
  const answer = async (queue: Queue, now: number, answerMs: number) => {
    await setClock(queue, now)
    const [lease] = await claim(queue, 1, 60_000, 60_000)
    await queue.begin([lease!])
    await queue.ack([{ ...done(lease!), answerMs }])
  }

  test('follows its latency, so that it is at work for us half of its time at most, for all workers, and comes back', async () => {
    const [one, other] = await workers(2, { delayMs: 1000 })
    await one!.admit(1, tasks(40))
    await answer(one!, 0, 300)
    expect(await paceOf(one!)).toBe(0)
    await answer(one!, 10_000, 8000)
    expect(await paceOf(one!)).toBe(2000)
    await answer(other!, 20_000, 8000)
    expect(await paceOf(one!)).toBe(4000)
    for (const now of [40_000, 80_000, 120_000]) await answer(other!, now, 8000)
    expect(await paceOf(one!)).toBe(16_000)
    await answer(one!, 200_000, 100)
    await setClock(one!, 200_000 + 10_700)
    expect(await claim(other!)).toEqual([])
    for (let n = 0; n < 30; n++) await answer(one!, 300_000 + n * 60_000, 100)
    expect(await paceOf(one!)).toBe(0)
  })

  test('doubles when it says that it is asked too much, once for all that was under way, also in a queue without delay', async () => {
    const [one, other] = await workers(2, { delayMs: 0, perHost: 8 })
    await one!.admit(1, tasks(60))
    const held = await claim(one!, 8, 60_000, 60_000)
    await one!.begin(held)
    for (const lease of held) {
      await other!.slowDown(host, 0)
      await one!.retry(lease, 0)
    }
    expect(await paceOf(one!)).toBe(500)
    await setClock(one!, 400)
    expect(await claim(one!, 8, 60_000, 60_000)).toHaveLength(1)
    await setClock(one!, 500)
    await other!.slowDown(host, 2000)
    expect(await paceOf(one!)).toBe(1000)
    expect(await readHost(one!, host)).toMatchObject({ running: 1, ownDelayMs: 0, rateMs: null })
    for (let n = 1; n < 12; n++) {
      await setClock(one!, n * 100_000)
      await one!.slowDown(host, 0)
    }
    expect(await paceOf(one!)).toBe(60_000)
  })

  test('is left alone where the queue does not adapt, and is forgotten when adapting is turned off', async () => {
    const [queue] = await workers(1, { delayMs: 1000 })
    await queue!.admit(1, tasks(3))
    await queue!.slowDown(host, 0)
    expect(await paceOf(queue!)).toBe(2000)
    await queue!.configure({
      delayMs: 1000,
      perHost: 1,
      concurrency: 1,
      maxRunning: null,
      paused: false,
      adaptive: false,
    })
    await answer(queue!, 0, 9000)
    await queue!.slowDown(host, 0)
    expect(await paceOf(queue!)).toBe(0)
  })

  test('stands beside an operator’s delay, and neither touches the other', async () => {
    const [queue] = await workers(1, { delayMs: 100 })
    await queue!.admit(1, tasks(3))
    await queue!.setHostRate(host, 5000)
    await queue!.slowDown(host, 0)
    expect(await readHost(queue!, host)).toMatchObject({ rateMs: 5000, paceMs: 10_000 })
    await queue!.setHostRate(host, null)
    expect(await readHost(queue!, host)).toMatchObject({ rateMs: null, paceMs: 10_000 })
  })
})

test('of each host a run takes in as many pages as its budget says, over all calls, and finds room for others', async () => {
  const [queue] = await workers(1, {})
  await queue!.openRun(2, { dedupe: EXACT, maxPages: null, maxPagesPerHost: 3 })
  const other = (n: number) => task(n, { host: 'b.example' })
  expect(await queue!.admit(2, [task(1), task(2), other(1)])).toMatchObject({ admitted: 3, refused: 0 })
  expect(await queue!.admit(2, [task(2), task(3), task(4), other(2)])).toEqual({
    admitted: 2,
    duplicate: 1,
    refused: 1,
  })
  const lease = (await claim(queue!)).find(({ host }) => host === 'b.example')!
  await queue!.ack([done(lease, [task(5), other(3), other(4)])])
  expect(await queue!.counts(2)).toMatchObject({ admitted: 6 })
  expect(await readShares(queue!, 2, ['a.example', 'b.example', 'c.example'])).toEqual([3, 3, 0])
  await queue!.cancelRun(2)
  await queue!.forget(2)
  expect(await readShares(queue!, 2, ['a.example'])).toEqual([0])
})

describe('hosts at one address', () => {
  const turn = (queue: Queue, host: string, delayMs = 1000, address = '192.0.2.1') =>
    addressTurn(queue, address, host, delayMs)

  test('have their turns one after the other, in the order of their asking, over all workers', async () => {
    const [one, other] = await workers(2, {})
    expect(await turn(one!, 'a.example')).toBe(0)
    expect(await turn(other!, 'b.example')).toBe(1000)
    expect(await turn(one!, 'c.example')).toBe(2000)
    expect(await turn(one!, 'd.example', 1000, '192.0.2.2')).toBe(0)
    await setClock(one!, 999)
    expect(await turn(one!, 'b.example')).toBe(1)
    await setClock(one!, 1500)
    // Neither one that stands further back nor one that comes now takes what is the first one's.
    expect(await turn(other!, 'c.example')).toBe(1000)
    expect(await turn(other!, 'e.example')).toBe(2000)
    expect(await turn(one!, 'b.example')).toBe(0)
    expect(await turn(one!, 'b.example')).toBe(3000)
    await setClock(one!, 2499)
    expect(await turn(other!, 'c.example')).toBe(1)
    await setClock(one!, 2500)
    expect(await turn(other!, 'c.example')).toBe(0)
  })

  test('do not wait for those that stand before them and do not come: their worker died, or their run was cancelled', async () => {
    const [queue] = await workers(1, {})
    expect(await turn(queue!, 'a.example')).toBe(0)
    for (let n = 0; n < 700; n++) await turn(queue!, `gone${n}.example`)
    expect(await turn(queue!, 'b.example')).toBe(60_000)
    await setClock(queue!, 3000)
    expect(await turn(queue!, 'b.example')).toBe(0)
    // Those that do come after all are not lost, but stand at the end.
    expect(await turn(queue!, 'gone0.example')).toBe(60_000)
    await setClock(queue!, 6000)
    expect(await turn(queue!, 'c.example')).toBe(0)
    expect(await turn(queue!, 'gone1.example')).toBe(1000)
  })

  test('are told to ask again within a minute, and by a shorter delay at once when it is changed', async () => {
    const [queue] = await workers(1, {})
    expect(await turn(queue!, 'a.example', 3_600_000)).toBe(0)
    expect(await turn(queue!, 'b.example', 3_600_000)).toBe(60_000)
    expect(await turn(queue!, 'b.example', 100)).toBe(100)
    await setClock(queue!, 100)
    expect(await turn(queue!, 'b.example', 3_600_000)).toBe(60_000)
    await setClock(queue!, 3_600_000)
    expect(await turn(queue!, 'b.example', 3_600_000)).toBe(0)
  })

  test('do not wait longer when the clock of Redis is set back', async () => {
    const [queue] = await workers(1, {})
    await setClock(queue!, 5_000_000)
    expect(await turn(queue!, 'a.example')).toBe(0)
    await setClock(queue!, 1_000)
    expect(await turn(queue!, 'b.example')).toBe(1000)
  })

  test('leave nothing behind in Redis when they have had their turns', async () => {
    const [queue] = await workers(1, {})
    for (let n = 0; n < 50; n++) await turn(queue!, 'a.example', 100, `192.0.2.${n}`)
    expect(await queue!.redis.zcard(addressesKey(queue!.name))).toBe(50)
    await setClock(queue!, 10_000)
    await turn(queue!, 'a.example', 100, '192.0.2.99')
    expect(await queue!.redis.zcard(addressesKey(queue!.name))).toBe(1)
    await turn(queue!, 'b.example', 100, '192.0.2.99')
    expect(await queue!.redis.pttl(addressLineKey(queue!.name, '192.0.2.99'))).toBeGreaterThan(60_000)
  })
})
