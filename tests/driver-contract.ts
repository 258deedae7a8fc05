import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Driver } from '../server/scaler/driver'
import { until } from './until'

/** A driver with what it drives, and a view of the workers that does not go through it. */
export interface DriverRig {
  driver: Driver
  /** Has workers of kind `http` and no other. */
  queue: string
  /** Names of workers that run and were not told to end. */
  running(): Promise<string[]>
  /** How many were told to end, and did so by themselves: exit code 0. */
  drained(): Promise<number>
  /** A driver like this one whose server does not answer; absent where there is no server. */
  cutOff?: () => Promise<Driver>
  close(): Promise<void>
}

/**
 * What every driver promises, whatever it drives.
 * @param missing why this one cannot be tried here.
 */
export function driverContract(
  name: string,
  open: () => Promise<DriverRig>,
  { missing, servesAnyQueue = false }: { missing?: string; servesAnyQueue?: boolean } = {},
): void {
  describe(`the driver ${name}`, () => {
    let rig: DriverRig
    beforeAll(async () => {
      if (!missing) rig = await open()
    }, 180_000)
    afterAll(() => rig?.close(), 120_000)

    const scale = (wanted: number) => rig.driver.scale(rig.queue, 'http', wanted)
    const counted = (n: number) =>
      until(`${n} workers`, 60, async () => {
        const all = await rig.running()
        return all.length === n && all
      })

    test('has as many workers as are wanted, up and down, and tells how many there were', async (context) => {
      if (missing) context.skip(missing)
      const first = (await rig.running()).length
      expect(await scale(1)).toBe(first)
      const [one] = await counted(1)
      expect(await scale(3)).toBe(1)
      expect(await counted(3)).toContain(one)
      expect(await scale(2)).toBe(3)
      const two = await counted(2)
      // Asked again for what is there already, it changes nothing.
      expect(await scale(2)).toBe(2)
      expect(await rig.running()).toEqual(two)
      await until('the third has ended', 60, async () => (await rig.drained()) === 1)
    }, 180_000)

    test('goes down to none and up again, and all that went ended by themselves', async (context) => {
      if (missing) context.skip(missing)
      expect(await scale(0)).toBe(2)
      await counted(0)
      await until('both have ended', 60, async () => (await rig.drained()) === 3)
      expect(await scale(2)).toBe(0)
      await counted(2)
    }, 180_000)

    test('says in words that name the kind or the queue and a remedy what it cannot have, and changes nothing', async (context) => {
      if (missing) context.skip(missing)
      if (servesAnyQueue) context.skip('this driver starts workers of every kind for every queue')
      const there = await rig.running()
      const refused = (queue: string, kind: 'http' | 'render') =>
        rig.driver.scale(queue, kind, 1).then(
          () => undefined,
          (error: Error) => ({ name: error.name, message: error.message }),
        )
      expect(await refused(rig.queue, 'render')).toEqual({
        name: 'UserError',
        message: expect.stringMatching(/render.*; (add|start) /),
      })
      expect(await refused('nobody_serves_this', 'http')).toEqual({
        name: 'UserError',
        message: expect.stringMatching(/http workers for the queue nobody_serves_this; add /),
      })
      expect(await rig.running()).toEqual(there)
    })

    test('a server that does not answer is unavailable, so that the request waits', async (context) => {
      if (missing) context.skip(missing)
      if (!rig.cutOff) return context.skip('this driver asks no server')
      const driver = await rig.cutOff()
      const fault = await driver.scale(rig.queue, 'http', 1).catch((error: Error) => error)
      expect(fault).toMatchObject({ name: 'Unavailable', message: expect.stringMatching(/; check /) })
    })
  })
}
