import { afterEach, describe, expect, test } from 'vitest'
import { urlId } from '../url'
import type { Queue } from './queue'
import { freshQueue, task, tasks, turnClock } from './queue-fixture'
import { bloomSize, seenOf } from './seen'
import type { Dedupe } from './task'

const DAY = 86_400_000
const setClock = turnClock()
const open: Queue[] = []

async function queueAt(ms = 0): Promise<Queue> {
  const queue = await freshQueue()
  open.push(queue)
  await setClock(queue, ms)
  return queue
}

afterEach(async () => {
  for (const queue of open.splice(0)) {
    const found = await queue.redis.keys(`*${queue.name}*`)
    if (found.length > 0) await queue.redis.unlink(found)
    queue.redis.disconnect()
  }
})

const KINDS = [{ kind: 'exact' as const }, { kind: 'bloom' as const, capacity: 100_000, errorRate: 0.0001 }]

describe.each(KINDS)('with the kind $kind', (kind) => {
  const admitTo = async (queue: Queue, run: number, dedupe: Dedupe, urls = tasks(10)) => {
    await queue.openRun(run, { dedupe, maxPages: null })
    return (await queue.admit(run, urls)).admitted
  }

  test('scope run: each run sees each URL once', async () => {
    const queue = await queueAt()
    const dedupe: Dedupe = { scope: 'run', ...kind }
    expect(await admitTo(queue, 1, dedupe)).toBe(10)
    expect(await admitTo(queue, 1, dedupe)).toBe(0)
    expect(await admitTo(queue, 2, dedupe)).toBe(10)
  })

  test('scope forever: runs of one spider share, other spiders do not', async () => {
    const queue = await queueAt()
    expect(await admitTo(queue, 1, { scope: 'forever', spider: 1, ...kind })).toBe(10)
    await setClock(queue, 5000 * DAY)
    expect(await admitTo(queue, 2, { scope: 'forever', spider: 1, ...kind }, tasks(12))).toBe(2)
    expect(await admitTo(queue, 3, { scope: 'forever', spider: 2, ...kind })).toBe(10)
  })

  test('scope days: what runs of the last days saw is not admitted, what older ones saw is', async () => {
    const queue = await queueAt()
    const dedupe: Dedupe = { scope: 'days', days: 3, spider: 1, ...kind }
    expect(await admitTo(queue, 1, dedupe)).toBe(10)
    await setClock(queue, 2 * DAY + 1)
    expect(await admitTo(queue, 2, dedupe, tasks(11))).toBe(1)
    await setClock(queue, 3 * DAY + 1)
    expect(await admitTo(queue, 3, dedupe, tasks(11))).toBe(10)
  })

  test('scope days: a run that goes on for longer still admits each URL once', async () => {
    const queue = await queueAt()
    const dedupe: Dedupe = { scope: 'days', days: 1, spider: 1, ...kind }
    expect(await admitTo(queue, 1, dedupe)).toBe(10)
    await setClock(queue, 40 * DAY)
    expect(await admitTo(queue, 1, dedupe, tasks(11))).toBe(1)
  })

  test('what a run has not seen can be asked', async () => {
    const queue = await queueAt()
    await admitTo(queue, 1, { scope: 'run', ...kind })
    const ids = tasks(12).map(({ id }) => id)
    expect(await queue.unseen(1, ids)).toEqual(ids.slice(10))
    expect(await queue.unseen(9, ids)).toEqual(ids)
  })

  test('forgetting a run drops its own memory and leaves a shared one', async () => {
    const queue = await queueAt()
    await admitTo(queue, 1, { scope: 'run', ...kind })
    await admitTo(queue, 2, { scope: 'forever', spider: 1, ...kind })
    for (const run of [1, 2]) {
      await queue.cancelRun(run)
      await queue.forget(run)
    }
    expect(await admitTo(queue, 1, { scope: 'run', ...kind })).toBe(10)
    expect(await admitTo(queue, 2, { scope: 'forever', spider: 1, ...kind })).toBe(0)
  })

  test('a key of days expires by itself', async () => {
    const queue = await queueAt()
    await admitTo(queue, 1, { scope: 'days', days: 3, spider: 1, ...kind })
    const [key] = await queue.redis.keys(`*${queue.name}*seen*`)
    const days = (await queue.redis.ttl(key!)) / 86_400
    expect(days).toBeGreaterThan(3)
    expect(days).toBeLessThan(12)
  })
})

test.each([0.001, 0.01])(
  'a full Bloom filter for an error rate of %d is wrong about that often',
  async (errorRate) => {
    const queue = await queueAt()
    const capacity = 100_000
    await queue.openRun(1, { dedupe: { scope: 'run', kind: 'bloom', capacity, errorRate }, maxPages: null })
    await inParts(capacity, (from) => queue.admit(1, tasks(500, {}, from)))
    const unknown = Array.from({ length: capacity }, (_, at) => urlId(`https://other.example/${at}`))
    let wrong = 0
    await inParts(capacity, async (from) => {
      wrong += 500
      const unseen = await queue.unseen(1, unknown.slice(from, from + 500))
      wrong -= unseen.length
    })
    expect(wrong / capacity).toBeGreaterThan(errorRate * 0.6)
    expect(wrong / capacity).toBeLessThan(errorRate * 1.5)
    expect(
      await queue.unseen(
        1,
        tasks(500).map(({ id }) => id),
      ),
    ).toEqual([])
  },
  120_000,
)

async function inParts(many: number, part: (from: number) => Promise<unknown>): Promise<void> {
  const parts = Array.from({ length: many / 500 }, (_, at) => at * 500)
  await Promise.all(
    [0, 1, 2, 3].map(async () => {
      for (let from = parts.shift(); from !== undefined; from = parts.shift()) await part(from)
    }),
  )
}

test('a Bloom filter of 10 million URLs takes 1.8 bytes a URL at 0.001, and no key more than 16 MiB', () => {
  const { chunks, bits, hashes } = bloomSize(10_000_000, 0.001)
  expect((chunks * bits) / 8 / 10_000_000).toBeCloseTo(1.8, 1)
  expect(hashes).toBe(10)
  expect(bits / 8).toBeLessThanOrEqual(2 ** 24)
  expect(bloomSize(1_000_000_000, 0.0001).bits / 8).toBeLessThanOrEqual(2 ** 24)
})

test('a filter in several parts finds what it admitted', async () => {
  const queue = await queueAt()
  const dedupe: Dedupe = { scope: 'run', kind: 'bloom', capacity: 20_000_000, errorRate: 0.001 }
  await queue.openRun(1, { dedupe, maxPages: null })
  expect(await queue.redis.keys(`*${queue.name}*seen*`)).toHaveLength(3)
  expect(await queue.admit(1, tasks(400))).toMatchObject({ admitted: 400 })
  expect(await queue.admit(1, tasks(401))).toMatchObject({ admitted: 1, duplicate: 400 })
})

test.each([
  [7, 'exact', 7],
  [31, 'exact', 31],
  [365, 'exact', 32],
  [7, 'bloom:1000:0.01', 7],
  [365, 'bloom:1000:0.01', 9],
])('%d days (%s) are kept in %d keys, and never less than the days asked for', (days, kind, keys) => {
  const seen = seenOf('q', 1, `days:${days}:5:20000:${kind}`)
  expect(seen.keys).toHaveLength(keys)
  const oldest = (day: number) => seenOf('q', 1, `days:${days}:5:${day}:${kind}`).keys[0]
  expect(seen.keys).toContain(oldest(20_000 - days + 1))
})

test('two runs that share a memory never both admit a page that both link to in one call', async () => {
  const queue = await queueAt()
  for (const run of [1, 2])
    await queue.openRun(run, { dedupe: { scope: 'forever', spider: 1, kind: 'exact' }, maxPages: null })
  await queue.admit(1, [task('a')])
  await queue.admit(2, [task('b')])
  const { leases } = await queue.claim({ max: 2, leaseMs: 1000, hardMs: 1000, settingsVersion: 0 })
  await queue.ack(leases.map((lease) => ({ ...lease, state: 'done', links: [task('c')] })))
  expect((await queue.lengths()).pending).toBe(1)
})
