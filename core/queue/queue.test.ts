import { afterEach, describe, expect, test } from 'vitest'
import { Unavailable } from '../errors'
import { failedKey, frontierKeys, rejectedKey, seenKey, tasksKey } from './keys'
import { type Queue, RunClosed } from './queue'
import { another, claim, done, EXACT, freshQueue, path, task, tasks } from './queue-fixture'

const open: Queue[] = []
async function queueWith(settings: Parameters<typeof freshQueue>[0] = {}, maxPages: number | null = null) {
  const queue = await freshQueue(settings)
  open.push(queue)
  await queue.openRun(1, { dedupe: EXACT, maxPages })
  return queue
}

afterEach(async () => {
  for (const queue of open.splice(0)) {
    const found = await queue.redis.keys(`*${queue.name}*`).catch(() => [])
    if (found.length > 0) await queue.redis.unlink(found)
    queue.redis.disconnect()
  }
})

describe('order', () => {
  test('within a host it is first in, first out', async () => {
    const queue = await queueWith()
    await queue.admit(1, tasks(20))
    const taken = []
    for (let call = 0; call < 4; call++) taken.push(...(await claim(queue, 5)))
    expect(taken.map(path)).toEqual(tasks(20).map(path))
  })

  test('a higher priority goes first, within a host and between hosts', async () => {
    const queue = await queueWith()
    await queue.admit(1, [task(1), task(2, { priority: 5 }), task(3, { priority: -1000 })])
    await queue.admit(1, [
      task(4, { host: 'b.example', priority: 7 }),
      task(5, { host: 'b.example', priority: 1 }),
    ])
    await queue.admit(1, [task(6, { host: 'c.example', priority: 1000 })])
    expect((await claim(queue)).map(path)).toEqual(['6', '4', '2', '5', '1', '3'])
  })

  test('a later, more urgent task moves its waiting host to the front', async () => {
    const queue = await queueWith({ perHost: 1 })
    await queue.admit(1, [task(1), task(2, { host: 'b.example' })])
    await queue.admit(1, [task(3, { host: 'b.example', priority: 1 })])
    expect((await claim(queue, 1)).map(path)).toEqual(['3'])
  })

  test('hosts of the same priority take turns, however much each has', async () => {
    const queue = await queueWith()
    await queue.admit(1, tasks(50))
    await queue.admit(1, tasks(2, { host: 'b.example' }, 100))
    expect((await claim(queue, 4)).map(({ host }) => host)).toEqual([
      'a.example',
      'b.example',
      'a.example',
      'b.example',
    ])
  })

  test('a host that is busy blocks no other', async () => {
    const queue = await queueWith({ perHost: 1 })
    await queue.admit(1, tasks(100, { priority: 9 }))
    await queue.admit(1, tasks(3, { host: 'b.example' }, 200))
    await claim(queue, 2)
    const [held] = await claim(queue, 64)
    expect(held).toBeUndefined()
    await queue.hold('b.example', 60_000)
    await queue.admit(1, [task(300, { host: 'c.example' })])
    expect((await claim(queue, 64)).map(path)).toEqual(['300'])
  })

  test('what is handed back, or lapses, is taken again before what came later', async () => {
    const queue = await queueWith()
    await queue.admit(1, tasks(3))
    const [first] = await claim(queue, 1)
    await queue.release([first!])
    expect((await claim(queue, 1)).map(path)).toEqual(['0'])
  })
})

describe('what a task carries', () => {
  test('everything that was admitted comes back, whatever users wrote', async () => {
    const queue = await queueWith()
    const odd = task('a|b', {
      depth: 3,
      priority: 7,
      referrer: 'https://r.example/x?y=|',
      meta: '{"a":"|\\n\u0000\u2028 é 漢 😀","b":[1]}\nsecond line|',
    })
    await queue.admit(1, [odd, task(2, { meta: '' })])
    const leases = await claim(queue)
    expect(leases[0]).toMatchObject({ ...odd, run: 1, deliveries: 0, attempts: 0 })
    expect(leases[1]!.meta).toBe('')
    expect(leases[1]).not.toHaveProperty('referrer')
  })

  test('a URL with a line break is refused before anything is sent', async () => {
    const queue = await queueWith()
    await expect(queue.admit(1, [{ ...task(1), url: 'https://a.example/\n' }])).rejects.toThrow(RangeError)
  })

  test.each([
    [
      'unseen',
      (queue: Queue) =>
        queue.unseen(
          1,
          tasks(501).map(({ id }) => id),
        ),
    ],
    [
      'ack',
      (queue: Queue) =>
        queue.ack([1, 2].map((n) => ({ ref: `1:${n}`, token: '', state: 'done', links: tasks(251) }))),
    ],
    ['addLinks', (queue: Queue) => queue.addLinks({ ref: '1:x', token: '' }, tasks(501))],
  ])('%s names itself when it is given more than a script takes', async (name, call) => {
    await expect(call(await queueWith())).rejects.toThrow(new RegExp(`^${name}.* 500 at most`))
  })
})

test('any number of tasks may be admitted in one call', async () => {
  const queue = await queueWith()
  const many = [...tasks(1201), ...tasks(3)]
  expect(await queue.admit(1, many)).toEqual({ admitted: 1201, duplicate: 3, refused: 0 })
  expect((await queue.audit(true)).violations).toEqual([])
})

describe('a lost reply costs nothing', () => {
  test('each call may be made twice', async () => {
    const queue = await queueWith()
    const twice = async <T>(call: () => Promise<T>) => [await call(), await call()]
    expect(await twice(() => queue.admit(1, tasks(4)))).toEqual([
      { admitted: 4, duplicate: 0, refused: 0 },
      { admitted: 0, duplicate: 4, refused: 0 },
    ])
    const [a, b, c, d] = await claim(queue)
    expect(await twice(() => queue.begin([a!, b!, c!, d!]))).toEqual([
      Array(4).fill('OK'),
      Array(4).fill('OK'),
    ])
    expect(await twice(() => queue.ack([done(a!, [task(10)])]))).toEqual([['OK'], ['DONE_ALREADY']])
    expect(await twice(() => queue.ack([{ ...done(b!), state: 'failed' }]))).toEqual([
      ['OK'],
      ['DONE_ALREADY'],
    ])
    expect(await twice(() => queue.retry(c!, 60_000))).toEqual(['OK', 'DONE_ALREADY'])
    expect(await twice(() => queue.release([d!]))).toEqual([['OK'], ['STALE']])
    expect(await twice(() => queue.redrive(1))).toEqual([1, 0])
    expect(await queue.counts(1)).toMatchObject({ admitted: 5, pending: 3, retry: 1, done: 1, failed: 0 })
    expect((await claim(queue)).map(({ deliveries }) => deliveries)).toEqual([0, 0, 0])
    expect(await twice(() => queue.cancelRun(1))).toEqual([
      { cancelled: 4, left: 0 },
      { cancelled: 0, left: 0 },
    ])
    expect(await twice(() => queue.finish(1))).toEqual([true, true])
    expect((await queue.audit(true)).violations).toEqual([])
    await twice(() => queue.forget(1))
    expect(await queue.redis.exists(tasksKey(queue.name), seenKey(queue.name, 'run:1:exact'))).toBe(0)
  })

  test('the same token may not say two things', async () => {
    const queue = await queueWith()
    await queue.admit(1, tasks(1))
    const [lease] = await claim(queue)
    await queue.retry(lease!, 60_000)
    expect(await queue.ack([done(lease!)])).toEqual(['STALE'])
  })

  test('a page acknowledged twice in one call counts once', async () => {
    const queue = await queueWith()
    await queue.admit(1, tasks(1))
    const [lease] = await claim(queue)
    expect(await queue.ack([done(lease!), done(lease!)])).toEqual(['OK', 'DONE_ALREADY'])
    expect(await queue.counts(1)).toMatchObject({ done: 1, running: 0 })
  })
})

describe('dead letters', () => {
  test('a poison page dies alone: its batch is not charged', async () => {
    const queue = await queueWith()
    await queue.admit(1, tasks(5))
    for (let death = 0; death < 2; death++) {
      const leases = await claim(queue, 64, 1)
      await queue.begin([leases.find((lease) => path(lease) === '2')!])
      await expect.poll(async () => (await queue.reap(500, 2)) && (await queue.lengths()).running).toBe(0)
    }
    const { tasks: dead } = await queue.list(1, 'failed', '0', 10)
    expect(dead.map(path)).toEqual(['2'])
    expect((await claim(queue)).map(({ deliveries }) => deliveries)).toEqual([0, 0, 0, 0])
  })

  test('each is on the failed list as JSON with its reason', async () => {
    const queue = await queueWith()
    await queue.admit(1, [task('q?a="b"')])
    const [lease] = await claim(queue)
    await queue.ack([{ ...lease!, state: 'failed', reason: 'http_403 "no"', links: [] }])
    const [entry] = await queue.redis.lrange(failedKey(queue.name), 0, -1)
    const { at, ...rest } = JSON.parse(entry!) as Record<string, unknown>
    expect(rest).toEqual({ url: lease!.url, run: 1, reason: 'http_403 "no"' })
    expect(Math.abs(Date.parse(at as string) - Date.now())).toBeLessThan(60_000)
  })

  test('the failed list keeps the newest 10,000, whoever writes to it, and the failures themselves all stay', async () => {
    const queue = await queueWith()
    const failed = failedKey(queue.name)
    await queue.redis.rpush(failed, 'oldest', ...Array.from({ length: 9_998 }, () => 'older'))
    await queue.admit(1, tasks(3))
    const [first, ...others] = await claim(queue, 3, 1)
    await queue.begin(others)
    await queue.ack([{ ...first!, state: 'failed', links: [] }])
    expect([await queue.redis.llen(failed), await queue.redis.lindex(failed, 0)]).toEqual([10_000, 'oldest'])
    for (let dead = 0; dead < 2; ) dead += (await queue.reap(10, 1)).dead.length
    expect([await queue.redis.llen(failed), await queue.redis.lindex(failed, 0)]).toEqual([10_000, 'older'])
    const newest = (await queue.redis.lrange(failed, -3, -1)).map((entry) => JSON.parse(entry).url)
    expect(newest.sort()).toEqual(tasks(3).map(({ url }) => url))
    expect(await queue.counts(1)).toMatchObject({ failed: 3 })
  })

  test('all of them can be listed, newest first, and re-driven in parts', async () => {
    const queue = await queueWith()
    await queue.admit(1, tasks(250))
    for (let leases = await claim(queue); leases.length > 0; leases = await claim(queue))
      await queue.ack(leases.map((lease) => ({ ...lease, state: 'failed', links: [] })))
    const listed = []
    let cursor = '0'
    do {
      const page = await queue.list(1, 'failed', cursor, 100)
      listed.push(...page.tasks)
      cursor = page.cursor
    } while (cursor !== '0')
    expect(new Set(listed.map(({ id }) => id)).size).toBe(250)
    expect([
      await queue.redrive(1),
      await queue.redrive(1),
      await queue.redrive(1),
      await queue.redrive(1),
    ]).toEqual([100, 100, 50, 0])
    expect((await queue.audit(true)).violations).toEqual([])
  })

  test('re-driving a finished run opens it again', async () => {
    const queue = await queueWith()
    await queue.admit(1, tasks(1))
    const [lease] = await claim(queue)
    await queue.ack([{ ...lease!, state: 'failed', links: [] }])
    expect(await queue.finish(1)).toBe(true)
    expect(await queue.redrive(1)).toBe(1)
    expect(await queue.finish(1)).toBe(false)
  })
})

describe('runs', () => {
  test('cancelling a run in a shared queue ends it alone, at once for its workers', async () => {
    const queue = await queueWith()
    await queue.openRun(2, { dedupe: EXACT, maxPages: null })
    for (let from = 0; from < 3000; from += 500) {
      await queue.admit(1, tasks(500, {}, from))
      await queue.admit(2, tasks(500, { host: 'b.example' }, from))
    }
    const held = (await claim(queue, 64)).filter(({ run }) => run === 1)
    const first = await queue.cancelRun(1)
    expect(await queue.ack([done(held[0]!, [task(9999)])])).toEqual(['STALE'])
    expect(await queue.admit(1, [task(9999)])).toEqual({ admitted: 0, duplicate: 0, refused: 1 })
    let { left, cancelled } = first
    while (left > 0) {
      const next = await queue.cancelRun(1)
      left = next.left
      cancelled += next.cancelled
    }
    expect(cancelled).toBe(3000)
    expect(await queue.counts(2)).toMatchObject({ cancelled: 0, admitted: 3000 })
    expect((await queue.audit(true)).violations).toEqual([])
  })

  test('a claim gives nothing of a cancelled run that the cancelling has not reached', async () => {
    const queue = await queueWith()
    await queue.openRun(2, { dedupe: EXACT, maxPages: null })
    await queue.admit(1, tasks(500))
    await queue.admit(1, tasks(500, {}, 500))
    await queue.admit(2, [task(1, { host: 'b.example' })])
    // One script's worth only, as if the canceller had died.
    await queue.script('cancel-run', [1, '0'])
    const taken = []
    for (let call = 0; call < 10; call++) taken.push(...(await claim(queue)))
    expect(taken.map(({ run }) => run)).toEqual([2])
    expect(await queue.counts(1)).toMatchObject({ cancelled: 1000, pending: 0 })
    expect((await queue.audit(true)).violations).toEqual([])
  })

  test('maxPages caps what is admitted by whatever way, to the page', async () => {
    const queue = await queueWith({}, 3)
    expect(await queue.admit(1, tasks(2))).toEqual({ admitted: 2, duplicate: 0, refused: 0 })
    const [lease] = await claim(queue, 1)
    await queue.ack([done(lease!, tasks(4))])
    expect(await queue.counts(1)).toMatchObject({ admitted: 3 })
    expect(await queue.admit(1, tasks(5))).toEqual({ admitted: 0, duplicate: 3, refused: 2 })
  })

  test('a run does not finish while a page is in work, and its links still come', async () => {
    const queue = await queueWith()
    await queue.admit(1, tasks(1))
    const [lease] = await claim(queue)
    expect(await queue.finish(1)).toBe(false)
    await queue.ack([done(lease!, [task(1)])])
    expect(await queue.finish(1)).toBe(false)
    const [second] = await claim(queue)
    await queue.ack([done(second!)])
    expect(await queue.finish(1)).toBe(true)
    expect(await queue.finish(77)).toBe(false)
  })

  test('restoring from the record marks pages as seen and terminal, once', async () => {
    const queue = await queueWith()
    const rows = tasks(3).map(({ id, url, host }, at) => ({
      id,
      url,
      host,
      state: (['done', 'failed', 'ignored'] as const)[at]!,
    }))
    await queue.restore(1, rows)
    await queue.restore(1, rows)
    expect(await queue.counts(1)).toMatchObject({ admitted: 3, done: 1, failed: 1, ignored: 1 })
    expect(await queue.admit(1, tasks(4))).toMatchObject({ admitted: 1, duplicate: 3 })
    expect(await queue.redrive(1)).toBe(1)
    expect((await queue.audit(true)).violations).toEqual([])
  })

  test('forgetting an open run is refused', async () => {
    const queue = await queueWith()
    await queue.admit(1, tasks(1))
    await expect(queue.forget(1)).rejects.toThrow(/still open: finish or cancel it first/)
  })
})

describe('the inbox', () => {
  test('is taken from the left, all or nothing', async () => {
    const queue = await queueWith()
    await queue.redis.rpush(queue.name, 'one', 'two', 'three')
    expect(await queue.peekInbox(2)).toEqual(['one', 'two'])
    expect(await queue.takeInbox(['two'], [{ run: 1, tasks: [task(2)] }], [])).toBe(false)
    const rejected = { entry: 'two', reason: 'is no URL', at: new Date().toISOString() }
    expect(await queue.takeInbox(['one', 'two'], [{ run: 1, tasks: [task(1)] }], [rejected])).toBe(true)
    expect(await queue.peekInbox(9)).toEqual(['three'])
    expect(
      (await queue.redis.lrange(rejectedKey(queue.name), 0, -1)).map((text) => JSON.parse(text)),
    ).toEqual([rejected])
    expect(await queue.counts(1)).toMatchObject({ admitted: 1, pending: 1 })
  })

  test('the rejected list keeps the newest 10,000', async () => {
    const queue = await queueWith()
    const list = rejectedKey(queue.name)
    await queue.redis.rpush(list, 'oldest', ...Array.from({ length: 9_999 }, () => 'older'))
    await queue.redis.rpush(queue.name, 'one', 'two')
    const rejected = ['one', 'two'].map((entry) => ({ entry, reason: 'is no URL', at: '' }))
    await queue.takeInbox(['one', 'two'], [], rejected)
    expect((await queue.lengths()).rejected).toBe(10_000)
    expect(await queue.redis.lindex(list, 0)).toBe('older')
    expect((await queue.redis.lrange(list, -2, -1)).map((entry) => JSON.parse(entry))).toEqual(rejected)
  })

  test('an entry that is no text can be taken too', async () => {
    const queue = await queueWith()
    await queue.redis.rpush(queue.name, Buffer.from([0xff, 0xfe, 0x00]), Buffer.from([0xfe, 0xff]))
    const entries = await queue.peekInbox(2)
    expect(await queue.takeInbox(entries, [], [])).toBe(true)
    expect(await queue.peekInbox(1)).toEqual([])
  })

  test('nothing is taken for a run that is not open, and what is over maxPages is rejected with that reason', async () => {
    const queue = await queueWith({}, 1)
    await queue.redis.rpush(queue.name, 'one', 'two')
    const take = (run: number) => queue.takeInbox(['one', 'two'], [{ run, tasks: tasks(2) }], [])
    await expect(take(9)).rejects.toThrow(RunClosed)
    await queue.finish(1)
    await expect(take(1)).rejects.toThrow(RunClosed)
    expect((await queue.lengths()).inbox).toBe(2)
    await queue.openRun(1, { dedupe: EXACT, maxPages: null })
    expect(await take(1)).toBe(true)
    expect(JSON.parse((await queue.redis.lindex(rejectedKey(queue.name), 0))!)).toMatchObject({
      entry: task(1).url,
      reason: 'the run has its maxPages, or the host its maxPagesPerHost',
    })
  })
})

describe('settings', () => {
  test('a claim hands them over when the caller has others', async () => {
    const queue = await queueWith({ concurrency: 7 })
    const ask = (settingsVersion: number) => queue.claim({ max: 0, leaseMs: 1, hardMs: 1, settingsVersion })
    const { settings } = await ask(0)
    expect(settings).toMatchObject({ concurrency: 7, version: 1 })
    expect(await ask(1)).not.toHaveProperty('settings')
  })

  test('a queue that nobody configured is polite', async () => {
    const queue = await queueWith()
    const other = await another(queue)
    open.push(other)
    await queue.redis.unlink(frontierKeys(queue.name)[12]!)
    await other.openRun(5, { dedupe: EXACT, maxPages: null })
    await other.admit(5, tasks(3))
    expect(await claim(other)).toHaveLength(1)
  })

  test('a shorter delay is in force at once, for hosts that wait too', async () => {
    const queue = await queueWith({ delayMs: 3_600_000 })
    await queue.admit(1, tasks(3))
    const [lease] = await claim(queue)
    await queue.ack([done(lease!)])
    expect(await claim(queue)).toEqual([])
    await queue.configure({ delayMs: 0, perHost: 2, concurrency: 1, maxRunning: null, paused: false })
    expect(await claim(queue)).toHaveLength(2)
  })
})

describe('Redis', () => {
  test('may forget all scripts under load', async () => {
    const queue = await queueWith()
    await Promise.all(
      Array.from({ length: 40 }, async (_, at) => {
        if (at % 5 === 0) await queue.redis.script('FLUSH')
        await queue.admit(1, tasks(10, {}, at * 10))
        return queue.ack((await claim(queue, 5)).map((lease) => done(lease)))
      }),
    )
    expect((await queue.audit(true)).violations).toEqual([])
    expect((await queue.counts(1)).admitted).toBe(400)
  })

  test('that lost everything is told from one that knows the run', async () => {
    const queue = await queueWith()
    await queue.admit(1, tasks(2))
    const [lease] = await claim(queue, 1)
    await queue.redis.unlink(...frontierKeys(queue.name), seenKey(queue.name, 'run:1:exact'))
    expect(await queue.ack([done(lease!, [task(5)])])).toEqual(['STALE'])
    await queue.openRun(1, { dedupe: { scope: 'forever', spider: 3, kind: 'exact' }, maxPages: null })
    expect(await queue.admit(1, tasks(2))).toMatchObject({ admitted: 2 })
  })

  test('that is gone is a passing trouble, not a fault', async () => {
    const queue = await queueWith()
    queue.redis.disconnect()
    open.length = 0
    await expect(queue.admit(1, tasks(1))).rejects.toThrow(Unavailable)
    await expect(queue.counts(1)).rejects.toThrow(Unavailable)
  })

  test.each([
    ['crawl_queue', ['crawl_queue']],
    ['{news}', ['news']],
    ['shop:{eu}:crawl', ['eu']],
  ])('keeps all keys of the frontier of %s in one slot', (name, tags) => {
    const slotted = [...frontierKeys(name).slice(0, 13), seenKey(name, 'run:1')]
    const tag = (key: string) => /\{([^}]+)\}/.exec(key)?.[1]
    expect([...new Set(slotted.map(tag))]).toEqual(tags)
    if (name.includes('{')) expect([failedKey(name), rejectedKey(name)].map(tag)).toEqual([tags[0], tags[0]])
  })
})
