import fc from 'fast-check'
import { test } from 'vitest'
import { turnClock } from './queue-fixture'
import { game, play } from './queue-play'

const setClock = turnClock()

test('whatever is done in whatever order, the queue does what the model says and no invariant breaks', async () => {
  await fc.assert(
    fc.asyncProperty(game, (one) => play(one, setClock)),
    { numRuns: 300 },
  )
}, 120_000)
