import { afterAll, beforeAll, expect, test } from 'vitest'
import { openServerRig, type ServerRig } from '../../tests/server-rig'
import { listScaleRequests, requestScale } from './scale'
import { listScaleLimits, NO_LIMITS, setScaleLimits } from './scale-limits'

let rig: ServerRig
beforeAll(async () => {
  rig = await openServerRig()
})
afterAll(() => rig.close())

const ask = (wanted: number, reason?: string) =>
  requestScale(rig.services, { queue: rig.queue, wanted, ...(reason && { reason }) }, 'lin@example.com')

test('a request says who, from how many, to how many and why, and waits for the scaler', async () => {
  await rig.rows(
    "INSERT INTO workers (id, kind, queue, hostname, pid, state, started_at, heartbeat_at) VALUES ('w1', 'http', ?, 'h', 1, 'running', UTC_TIMESTAMP(3), UTC_TIMESTAMP(3)), ('w2', 'http', ?, 'h', 2, 'lost', UTC_TIMESTAMP(3), UTC_TIMESTAMP(3))",
    [rig.queue, rig.queue],
  )
  expect(await ask(4, 'the backlog grows')).toMatchObject({
    queue: rig.queue,
    kind: 'http',
    previous: 1,
    wanted: 4,
    reason: 'the backlog grows',
    state: 'waiting',
    author: 'lin@example.com',
    finishedAt: null,
  })
})

test('of requests made at the same time exactly one stays open, however many there are', async () => {
  await Promise.all(Array.from({ length: 8 }, (_, n) => ask(n)))
  const all = await listScaleRequests(rig.services, { queue: rig.queue, limit: 50 })
  expect(all.filter((one) => one.state === 'waiting').map((one) => one.id)).toEqual([all[0]!.id])
  expect(all.slice(1).every((one) => one.state === 'superseded' && one.finishedAt)).toBe(true)
})

test('a request that was carried out stays as it ended, and one under way gives way', async () => {
  const first = await ask(2)
  await rig.rows("UPDATE scale_requests SET state = 'done' WHERE id = ?", [first.id])
  const second = await ask(3)
  await rig.rows("UPDATE scale_requests SET state = 'running' WHERE id = ?", [second.id])
  await ask(5)
  const rows = await listScaleRequests(rig.services, { queue: rig.queue, limit: 3 })
  expect(rows.map(({ wanted, state }) => [wanted, state])).toEqual([
    [5, 'waiting'],
    [3, 'superseded'],
    [2, 'done'],
  ])
})

test('an unknown queue and an absurd number are refused with the remedy', async () => {
  await expect(requestScale(rig.services, { queue: 'nowhere', wanted: 1 }, 'x')).rejects.toThrow(
    /no queue "nowhere"/,
  )
  await expect(ask(501)).rejects.toThrow(/between 0 and 500/)
})

const limit = (limits: Partial<typeof NO_LIMITS>) =>
  setScaleLimits(rig.services, rig.queue, { ...NO_LIMITS, ...limits }, 'lin@example.com')

test('a request beyond the fewest and the most of its queue is refused with both, and leaves no trace', async () => {
  await limit({ fewest: 1, most: 4 })
  const before = await listScaleRequests(rig.services, { queue: rig.queue, limit: 50 })
  await expect(ask(5)).rejects.toThrow(
    /may have 1 to 4 workers, and 5 were asked for; ask for a number between/,
  )
  await expect(ask(0)).rejects.toThrow(/may have 1 to 4 workers/)
  expect(await listScaleRequests(rig.services, { queue: rig.queue, limit: 50 })).toEqual(before)
  expect(await ask(4)).toMatchObject({ state: 'waiting' })
})

test('within a minute the number swings by no more than the rate, however many requests that takes', async () => {
  await rig.rows('DELETE FROM scale_requests')
  await limit({ perMinute: 3 })
  // One is alive.
  await expect(ask(5)).rejects.toThrow(
    /may change by 3 a minute, and 5 would be more than that; ask for 0 to 4 now/,
  )
  await ask(3)
  await ask(4)
  await expect(ask(5)).rejects.toThrow(/ask for 1 to 4 now/)
  await expect(ask(0)).rejects.toThrow(/ask for 1 to 4 now/)
  await rig.rows('UPDATE scale_requests SET created_at = created_at - INTERVAL 1 MINUTE')
  expect(await ask(2)).toMatchObject({ state: 'waiting' })
})

test('back into bounds that were set too late there is always a way', async () => {
  await rig.rows('DELETE FROM scale_requests')
  await limit({ fewest: 6, most: 8, perMinute: 2 })
  expect(await ask(6)).toMatchObject({ previous: 1, wanted: 6 })
})

test('limits are on record with who changed them from what to what, and wrong ones are refused', async () => {
  await limit({ most: 7, auto: true })
  expect(await listScaleLimits(rig.services)).toEqual([
    { queue: rig.queue, ...NO_LIMITS, most: 7, auto: true },
  ])
  const [entry] = await rig.rows<{ actor: string; detail: string }>(
    "SELECT actor, detail FROM audit_log WHERE action = 'scale.limits' ORDER BY id DESC LIMIT 1",
  )
  expect(entry!.actor).toBe('lin@example.com')
  expect(JSON.parse(entry!.detail)).toMatchObject({
    from: { fewest: 6, most: 8 },
    to: { most: 7, auto: true },
  })
  await expect(limit({ fewest: 9, most: 3 })).rejects.toThrow(/most must not be smaller than the fewest/)
  await expect(setScaleLimits(rig.services, 'nowhere', NO_LIMITS, 'x')).rejects.toThrow(/no queue "nowhere"/)
})
