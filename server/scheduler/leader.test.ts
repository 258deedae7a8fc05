import { afterAll, beforeAll, expect, test } from 'vitest'
import { openServerRig, type ServerRig } from '../../tests/server-rig'
import { Leader } from './leader'

let rig: ServerRig
beforeAll(async () => {
  rig = await openServerRig()
})
afterAll(() => rig.close())

const leader = (name: string, holder: string) => new Leader(rig.services.database.pool, name, holder, 60_000)
/** Lets the lease of `name` run out, as if its holder had been paused for longer. */
const lapse = (name: string) =>
  rig.rows('UPDATE leases SET expires_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND WHERE name = ?', [name])

test('of many that ask at once one leads, and it goes on leading', async () => {
  const all = Array.from({ length: 6 }, (_, n) => leader('crowd', `holder ${n}`))
  const first = await Promise.all(all.map((one) => one.hold()))
  expect(first.filter((fence) => fence !== null)).toEqual([1])
  expect(await Promise.all(all.map((one) => one.hold()))).toEqual(first)
})

test('a leader whose lease ran out is followed under a higher number, and does not lead again by renewing', async () => {
  const paused = leader('paused', 'a')
  const other = leader('paused', 'b')
  expect(await paused.hold()).toBe(1)
  expect(await other.hold()).toBeNull()
  await lapse('paused')
  expect(await other.hold()).toBe(2)
  expect(await paused.hold()).toBeNull()
  expect(await other.hold()).toBe(2)
})

test('a leader that resigns is followed at once', async () => {
  const [a, b] = [leader('resigns', 'a'), leader('resigns', 'b')]
  await a.hold()
  await a.resign()
  expect(await b.hold()).toBe(2)
})
