import { deepStrictEqual } from 'node:assert'
import fc from 'fast-check'
import { runsKey } from './keys'
import type { Queue } from './queue'
import { done, freshQueue, task } from './queue-fixture'
import { Model } from './queue-model'
import type { Ack, Dedupe, Lease, NewTask } from './task'

/**
 * Plays commands on the real queue and on the model, and compares after each: the replies, the counts, the invariants.
 * A fault throws an error whose message begins with the invariant (`I1` …) or with `model:`.
 */
export type Command =
  | { do: 'open'; run: number }
  | { do: 'admit'; run: number; urls: number[] }
  | { do: 'claim'; max: number }
  | { do: 'begin' | 'release' | 'extend'; leases: number[] }
  | {
      do: 'ack'
      acks: { lease: number; state: Ack['state']; urls: number[]; answerMs?: number | undefined }[]
    }
  | { do: 'addLinks'; lease: number; urls: number[] }
  | { do: 'retry'; lease: number; delay: number }
  | { do: 'slow'; url: number }
  | { do: 'reap' | 'redrive' | 'cancelRun' | 'finish'; run: number }
  | { do: 'cancelUrls'; run: number; urls: number[] }
  | { do: 'pause'; on: boolean }
  | { do: 'limit'; to: number | null }
  | { do: 'epoch' }
  | { do: 'push'; urls: number[] }
  | { do: 'take'; run: number; many: number }
  | { do: 'tick'; ms: number }
  | { do: 'repeat' }

const run = fc.integer({ min: 1, max: 3 })
const url = fc.integer({ min: 0, max: 29 })
const urls = fc.array(url, { maxLength: 8 })
const lease = fc.nat(50)
const leases = fc.array(lease, { minLength: 1, maxLength: 4 })
const state = fc.constantFrom('done' as const, 'failed' as const, 'ignored' as const)

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant('open' as const), run }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('admit' as const), run, urls }) },
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant('claim' as const), max: fc.integer({ min: 0, max: 6 }) }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('begin' as const), leases }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('release' as const, 'extend' as const), leases }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('ack' as const),
      acks: fc.array(fc.record({ lease, state, urls, answerMs: fc.constantFrom(undefined, 10, 300) }), {
        minLength: 1,
        maxLength: 3,
      }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('addLinks' as const), lease, urls }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('retry' as const), lease, delay: fc.constantFrom(0, 30, 5000) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('reap' as const, 'redrive' as const, 'finish' as const),
      run,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('slow' as const), url }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancelRun' as const), run }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancelUrls' as const), run, urls }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pause' as const), on: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('limit' as const), to: fc.constantFrom(null, 2) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('epoch' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('push' as const), urls }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('take' as const), run, many: fc.integer({ min: 1, max: 4 }) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('tick' as const), ms: fc.constantFrom(1, 40, 150, 1100, 12_000) }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('repeat' as const) }) },
)

export const game = fc.record({
  delayMs: fc.constantFrom(0, 100),
  perHost: fc.integer({ min: 1, max: 3 }),
  commands: fc.array(command, { minLength: 5, maxLength: 60, size: 'max' }),
})
export type Game = typeof game extends fc.Arbitrary<infer T> ? T : never

/** Two runs share a memory, one has its own and a cap, one a cap a host. */
const RUNS: Record<
  number,
  { dedupe: Dedupe; memory: string; maxPages: number | null; maxPagesPerHost?: number }
> = {
  1: { dedupe: { scope: 'run', kind: 'exact' }, memory: 'own', maxPages: 6 },
  2: { dedupe: { scope: 'forever', spider: 7, kind: 'exact' }, memory: 'shared', maxPages: null },
  3: {
    dedupe: { scope: 'forever', spider: 7, kind: 'exact' },
    memory: 'shared',
    maxPages: null,
    maxPagesPerHost: 3,
  },
}
const LEASE_MS = 1000
const HARD_MS = 10_000
const MAX_DELIVERIES = 2

const urlTask = (n: number): NewTask =>
  task(n, { host: ['a.example', 'b.example', 'c.example:8080'][n % 3]!, priority: [0, 5, -1000][n % 7] ?? 0 })

export async function play(
  { delayMs, perHost, commands }: Game,
  setClock: (queue: Queue, ms: number) => Promise<void>,
): Promise<void> {
  const queue = await freshQueue({ delayMs, perHost })
  const model = new Model(delayMs, perHost)
  const given: Lease[] = []
  const leaseOf = (n: number): Lease =>
    given.length > 0
      ? given[given.length - 1 - (n % Math.min(given.length, 8))]!
      : {
          ...urlTask(0),
          run: 1,
          ref: `1:${urlTask(0).id}`,
          token: '000000.000000000000001',
          deliveries: 0,
          attempts: 0,
          expiresAt: 0,
        }
  let last: Command | undefined
  try {
    await setClock(queue, 0)
    await step({ do: 'open', run: 1 })
    await step({ do: 'open', run: 2 })
    for (const one of commands) {
      await step(one.do === 'repeat' ? (last ?? one) : one)
      last = one.do === 'repeat' ? last : one
      await compare()
    }
  } finally {
    const found = await queue.redis.keys(`*${queue.name}*`)
    if (found.length > 0) await queue.redis.unlink(found)
    queue.redis.disconnect()
  }

  async function step(one: Command): Promise<void> {
    switch (one.do) {
      case 'open': {
        const { dedupe, memory, maxPages, maxPagesPerHost = null } = RUNS[one.run]!
        await queue.openRun(one.run, { dedupe, maxPages, maxPagesPerHost })
        return model.openRun(one.run, memory, maxPages, maxPagesPerHost)
      }
      case 'admit': {
        const tasks = one.urls.map(urlTask)
        return same(one, await queue.admit(one.run, tasks), model.admit(one.run, tasks))
      }
      case 'claim': {
        const claimed = await queue.claim({
          max: one.max,
          leaseMs: LEASE_MS,
          hardMs: HARD_MS,
          settingsVersion: 0,
        })
        model.claim(one.max, LEASE_MS, HARD_MS, claimed.leases)
        given.push(...claimed.leases)
        return same(one, [claimed.epoch, claimed.inbox], [model.epoch, model.inbox.length])
      }
      case 'begin': {
        const held = one.leases.map(leaseOf)
        return same(
          one,
          await queue.begin(held),
          held.map(({ ref, token }) => model.begin(ref, token)),
        )
      }
      case 'release': {
        const held = one.leases.map(leaseOf)
        return same(
          one,
          await queue.release(held),
          held.map(({ ref, token }) => model.release(ref, token)),
        )
      }
      case 'extend': {
        const held = one.leases.map(leaseOf)
        const lost = held.filter(({ ref, token }) => model.extend(ref, token, LEASE_MS)).map(({ ref }) => ref)
        return same(one, await queue.extend(held, LEASE_MS), lost)
      }
      case 'ack': {
        const acks = one.acks.map((ack) => ({
          ...done(leaseOf(ack.lease), ack.urls.map(urlTask)),
          state: ack.state,
          ...(ack.answerMs !== undefined && { answerMs: ack.answerMs }),
        }))
        return same(one, await queue.ack(acks), model.ack(acks))
      }
      case 'addLinks': {
        const held = leaseOf(one.lease)
        const links = one.urls.map(urlTask)
        return same(one, await queue.addLinks(held, links), model.addLinks(held.ref, held.token, links))
      }
      case 'retry': {
        const held = leaseOf(one.lease)
        return same(one, await queue.retry(held, one.delay), model.retry(held.ref, held.token, one.delay))
      }
      case 'slow': {
        const { host } = urlTask(one.url)
        model.slowDown(host)
        return queue.slowDown(host, 0)
      }
      case 'reap': {
        const { returned, dead } = await queue.reap(500, MAX_DELIVERIES)
        const refs = dead.map((task) => `${task.run}:${task.id}`).sort()
        const expected = model.reap(MAX_DELIVERIES)
        return same(
          one,
          { returned, dead: refs },
          { returned: expected.returned, dead: expected.dead.sort() },
        )
      }
      case 'redrive':
        return same(one, await queue.redrive(one.run), model.redrive(one.run))
      case 'cancelRun':
        return same(one, await queue.cancelRun(one.run), {
          cancelled: model.cancelRun(one.run),
          left: model.open(one.run),
        })
      case 'cancelUrls': {
        const ids = one.urls.map((n) => urlTask(n).id)
        return same(one, await queue.cancelUrls(one.run, ids), model.cancelUrls(one.run, ids))
      }
      case 'finish':
        return same(one, await queue.finish(one.run), model.finish(one.run))
      case 'pause':
        model.paused = one.on
        return configure()
      case 'limit':
        model.maxRunning = one.to
        return configure()
      case 'epoch':
        return queue.setEpoch(++model.epoch)
      case 'push': {
        const texts = one.urls.map((n) => urlTask(n).url)
        if (texts.length > 0) await queue.redis.rpush(queue.name, ...texts)
        model.inbox.push(...texts)
        return
      }
      case 'take':
        return take(one)
      case 'tick':
        model.now += one.ms
        return setClock(queue, model.now)
      case 'repeat':
        return
    }
  }

  async function take(one: Command & { do: 'take' }): Promise<void> {
    const entries = await queue.peekInbox(one.many)
    deepStrictEqual(entries, model.inbox.slice(0, one.many))
    if (entries.length === 0) return
    const [first, ...rest] = entries
    const tasks = rest.map((text) => urlTask(Number(new URL(text).pathname.slice(1))))
    const rejected = [{ entry: first!, reason: 'first', at: '2026-01-05T00:00:00Z' }]
    const taken = queue.takeInbox(entries, [{ run: one.run, tasks }], rejected)
    const known = model.runs.get(one.run)
    if (known?.state !== 'open') {
      const outcome = await taken.catch((error: Error) => error.name)
      return same(one, outcome, 'RunClosed')
    }
    same(one, await taken, true)
    model.inbox.splice(0, entries.length)
    model.rejected += 1 + model.admit(one.run, tasks).refused
  }

  function configure(): Promise<void> {
    const { paused, maxRunning } = model
    return queue.configure({ delayMs, perHost, concurrency: 16, maxRunning, paused })
  }

  async function compare(): Promise<void> {
    const [{ runs, violations }, { rejected }, records] = await Promise.all([
      queue.audit(true),
      queue.lengths(),
      queue.redis.hgetall(runsKey(queue.name)),
    ])
    if (violations.length > 0) throw new Error(violations.join('; '))
    const at: Command = { do: 'repeat' }
    for (const [number, { counts, state }] of model.runs) {
      const real = runs.get(number)
      if (real || counts.admitted > 0) same(at, real, counts)
      same(at, records[number]?.split('|')[0], state)
    }
    same(at, rejected, model.rejected)
  }
}

function same(one: Command, real: unknown, expected: unknown): void {
  try {
    deepStrictEqual(real, expected)
  } catch {
    throw new Error(
      `model: after ${one.do} the queue says ${JSON.stringify(real)}, the model ${JSON.stringify(expected)}`,
    )
  }
}
