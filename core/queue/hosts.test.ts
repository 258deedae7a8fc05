import { afterEach, expect, test } from 'vitest'
import { listHoldings, listHosts, readHost, readStanding } from './hosts'
import { frontierKeys } from './keys'
import type { Queue } from './queue'
import { claim, done, EXACT, FAST, freshQueue, task, tasks } from './queue-fixture'

let queue: Queue
async function open(settings: Parameters<typeof freshQueue>[0] = {}): Promise<Queue> {
  queue = await freshQueue(settings)
  await queue.openRun(1, { dedupe: EXACT, maxPages: null })
  return queue
}
afterEach(async () => {
  expect((await queue.audit(true)).violations).toEqual([])
  await queue.redis.unlink(...frontierKeys(queue.name))
  queue.redis.disconnect()
})

test('every host with work is listed once, by name, page after page', async () => {
  await open()
  const names = Array.from({ length: 25 }, (_, n) => `h${String(n).padStart(2, '0')}.example`)
  names.push('h03.example:8080')
  for (const host of names) await queue.admit(1, tasks(3, { host }))
  // One host has work under way only, one a retry only.
  await queue.admit(1, [
    task('x', { host: 'a.example', priority: 9 }),
    task('y', { host: 'z.example', priority: 8 }),
  ])
  const [, second] = await claim(queue, 2)
  await queue.begin([second!])
  await queue.retry(second!, 60_000)
  const seen: string[] = []
  let after: string | null = ''
  while (after !== null) {
    const page = await listHosts(queue, { after, limit: 10 })
    seen.push(...page.hosts.map(({ host }) => host))
    after = page.next
  }
  expect(seen).toEqual(['a.example', ...names, 'z.example'].sort())
  const { hosts } = await listHosts(queue, { prefix: 'h03', limit: 10 })
  expect(hosts).toMatchObject([
    { host: 'h03.example', pending: 3, running: 0 },
    { host: 'h03.example:8080', pending: 3 },
  ])
})

test('whoever claimed a URL is known while it is in work', async () => {
  await open()
  await queue.admit(1, tasks(6))
  const ask = (worker: string, max: number) =>
    queue.claim({ max, leaseMs: 10_000, hardMs: 10_000, settingsVersion: 1, worker })
  await ask('first', 2)
  await queue.admit(1, tasks(1, { host: 'b.example' }))
  await ask('second', 3)
  const held = await listHoldings(queue, 'a.example')
  expect(held.map(({ worker }) => worker).sort()).toEqual(
    ['first', 'first', 'second', 'second', 'second'].slice(0, held.length),
  )
  expect(await readStanding(queue, 1, task(0).id)).toMatchObject({
    state: 'running',
    worker: 'first',
    expiresAt: expect.any(Number),
  })
})

test('a waiting URL knows how many of its host go before it', async () => {
  await open({ delayMs: 60_000 })
  await queue.admit(1, tasks(5))
  await queue.admit(1, [task('first', { priority: 5 })])
  expect(await readStanding(queue, 1, task(3).id)).toMatchObject({ state: 'pending', ahead: 4 })
  expect(await readStanding(queue, 1, task('first').id)).toMatchObject({ ahead: 0 })
  expect(await readStanding(queue, 1, task('never').id)).toBeNull()
})

test('an operator’s delay for a host stands for the queue’s at once, longer or shorter, and can be taken back', async () => {
  await open({ delayMs: 3_600_000 })
  await queue.admit(1, tasks(9))
  const visit = async () => {
    const leases = await claim(queue)
    if (leases.length > 0) await queue.ack(leases.map((lease) => done(lease)))
    return leases.length
  }
  expect(await visit()).toBe(1)
  expect(await visit()).toBe(0)
  await queue.setHostRate('a.example', 0)
  expect(await visit()).toBe(8)
  await queue.admit(1, tasks(4, {}, 20))
  await queue.setHostRate('a.example', 7_200_000)
  expect(await visit()).toBe(1)
  expect(await readHost(queue, 'a.example')).toMatchObject({ rateMs: 7_200_000, pending: 3 })
  // A change of the queue's settings leaves it as it is.
  await queue.configure({ ...FAST, delayMs: 0 })
  expect(await visit()).toBe(0)
  await queue.setHostRate('a.example', null)
  expect(await visit()).toBe(3)
  expect(await readHost(queue, 'a.example')).toMatchObject({ rateMs: null })
})

test('robots.txt’s delay is never undercut by an operator’s', async () => {
  await open()
  await queue.admit(1, tasks(3))
  await queue.setHostDelay('a.example', 3_600_000)
  await queue.setHostRate('a.example', 0)
  expect(await claim(queue)).toHaveLength(1)
  expect(await claim(queue)).toHaveLength(0)
})

test('a purge cancels what waits and nothing else, and the sums of every run hold', async () => {
  await open()
  await queue.openRun(2, { dedupe: EXACT, maxPages: null })
  await queue.admit(1, tasks(400))
  await queue.admit(2, tasks(10, { host: 'b.example', priority: -5 }))
  const held = await claim(queue, 3)
  await queue.begin(held)
  await queue.retry(held[0]!, 60_000)
  expect(await queue.purge(300)).toEqual({ cancelled: 300, left: 108 })
  expect(await queue.purge(300)).toEqual({ cancelled: 108, left: 0 })
  expect(await queue.counts(1)).toMatchObject({
    admitted: 400,
    cancelled: 398,
    running: 2,
    pending: 0,
    retry: 0,
  })
  expect(await queue.counts(2)).toMatchObject({ admitted: 10, cancelled: 10 })
  // What is under way still ends as it would have.
  expect(await queue.ack(held.slice(1).map((lease) => done(lease)))).toEqual(['OK', 'OK'])
})

test('a draining queue gives out its work but no word of its inbox', async () => {
  await open({ draining: true })
  await queue.admit(1, tasks(1))
  await queue.redis.rpush(queue.name, 'https://a.example/new')
  const ask = () => queue.claim({ max: 5, leaseMs: 1000, hardMs: 1000, settingsVersion: 0 })
  const claimed = await ask()
  expect(claimed).toMatchObject({ inbox: -1, settings: { draining: true } })
  expect(claimed.leases).toHaveLength(1)
  await queue.configure(FAST)
  expect(await ask()).toMatchObject({ inbox: 1, leases: [] })
  await queue.redis.unlink(queue.name)
})
