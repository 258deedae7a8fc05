import { afterAll, beforeAll, expect, test } from 'vitest'
import { openServerRig, type ServerRig } from '../../tests/server-rig'
import { listScaleRequests, requestScale } from './scale'

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
