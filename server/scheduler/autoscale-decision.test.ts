import { describe, expect, test } from 'vitest'
import { NO_LIMITS } from '../services/scale-limits'
import { decide, type Memory, type Sight } from './autoscale-decision'

const NOW = 1_800_000_000_000
const ago = (seconds: number) => NOW - seconds * 1000
const limits = { ...NO_LIMITS, auto: true, fewest: 1, most: 8, upSeconds: 60, downSeconds: 300 }
const NOTHING: Memory = { behindSince: null, idleSince: null }
/** Four workers with all their hands full and work waiting. */
const full: Sight = {
  now: NOW,
  waits: true,
  open: true,
  running: 64,
  concurrency: 16,
  left: 1000,
  workers: 4,
}
/** Four workers where two would do. */
const slack: Sight = { ...full, waits: false, running: 20, left: 0 }

describe('what is asked for', () => {
  test.for<[string, Partial<typeof limits>, Partial<Memory>, Sight, number | null]>([
    ['nothing, when work began to wait just now', {}, {}, full, null],
    ['nothing, when it has waited for less than upSeconds', {}, { behindSince: ago(59) }, full, null],
    ['half as many more, when it has waited for upSeconds', {}, { behindSince: ago(60) }, full, 6],
    ['one more than one', {}, { behindSince: ago(60) }, { ...full, workers: 1 }, 2],
    ['no more than the most', { most: 5 }, { behindSince: ago(60) }, full, 5],
    ['nothing, with the most there', { most: 4 }, { behindSince: ago(600) }, full, null],
    ['no more than the rate', { perMinute: 1 }, { behindSince: ago(60) }, full, 5],
    [
      'nothing, when the queue is paused or full',
      {},
      { behindSince: ago(60) },
      { ...full, open: false },
      null,
    ],
    [
      'nothing, when what is left waits for its hosts',
      {},
      { behindSince: ago(60) },
      { ...full, waits: false },
      null,
    ],
    [
      'one at once, when there is none and work waits',
      { fewest: 0 },
      {},
      { ...full, workers: 0, running: 0 },
      1,
    ],
    ['nothing, when fewer would do since just now', {}, {}, slack, null],
    ['nothing, when they would have for less than downSeconds', {}, { idleSince: ago(299) }, slack, null],
    ['one less, when they would have for downSeconds', {}, { idleSince: ago(300) }, slack, 3],
    [
      'nothing, when the rest would be nearly full',
      {},
      { idleSince: ago(300) },
      { ...slack, running: 34 },
      null,
    ],
    ['nothing, with the fewest there', { fewest: 4 }, { idleSince: ago(900) }, slack, null],
    [
      'not the last, while anything is left',
      { fewest: 0 },
      { idleSince: ago(900) },
      { ...slack, workers: 1, running: 0, left: 3 },
      null,
    ],
    [
      'not even the last, when nothing is left',
      { fewest: 0 },
      { idleSince: ago(900) },
      { ...slack, workers: 1, running: 0 },
      0,
    ],
    ['the fewest, when there are fewer', { fewest: 6 }, {}, slack, 6],
    ['the most, when there are more', { most: 2 }, {}, slack, 2],
    ['towards the most no faster than the rate', { most: 1, perMinute: 2 }, {}, full, 2],
  ])('%s', ([, own, memory, sight, wanted]) => {
    const { ask } = decide({ ...limits, ...own }, { ...NOTHING, ...memory }, sight)
    expect(ask?.wanted ?? null).toBe(wanted)
  })
})

test('each step says its cause in figures', () => {
  expect(decide(limits, { ...NOTHING, behindSince: ago(75) }, full).ask?.cause).toBe(
    'work has waited for a worker for 75 s without a break',
  )
  expect(decide(limits, { ...NOTHING, idleSince: ago(300) }, slack).ask?.cause).toBe(
    'one less would have done for 300 s: nothing waited, 20 in flight',
  )
})

test('a break in the waiting, or a step, begins the count anew, so the number does not swing', () => {
  const broken = decide(limits, { ...NOTHING, behindSince: ago(50) }, { ...full, waits: false, running: 60 })
  expect(broken).toEqual({ memory: NOTHING })
  expect(decide(limits, { ...NOTHING, behindSince: ago(60) }, full).memory).toEqual(NOTHING)
  expect(decide(limits, { ...NOTHING, idleSince: ago(300) }, slack).memory).toEqual(NOTHING)
})

test('a load that stays the same is met once and then left alone', () => {
  // Work for some five workers: fewer leave some waiting, more have hands free.
  const load = 80
  let workers = 2
  let memory = NOTHING
  const steps: number[] = []
  for (let second = 0; second < 7200; second += 5) {
    const running = Math.min(load, workers * 16)
    const found = decide(limits, memory, {
      ...full,
      now: NOW + second * 1000,
      workers,
      running,
      waits: load > running,
      left: load - running,
    })
    memory = found.memory
    if (!found.ask) continue
    workers = found.ask.wanted
    steps.push(workers)
  }
  expect(steps).toEqual([3, 5])
})
