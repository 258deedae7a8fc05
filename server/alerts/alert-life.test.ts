import { expect, test } from 'vitest'
import { nextStep, type Step } from './alert-life'

const at = new Date('2026-01-05T12:00:00Z')
const ago = (minutes: number) => new Date(at.getTime() - minutes * 60_000)
const pending = (minutes: number) => ({ state: 'pending' as const, startedAt: ago(minutes), calmSince: null })
const firing = (calm: number | null) => ({
  state: 'firing' as const,
  startedAt: ago(60),
  calmSince: calm === null ? null : ago(calm),
})

test.each<[string, Parameters<typeof nextStep>[0], boolean, number, Step]>([
  ['nothing wrong', null, false, 5, 'none'],
  ['wrong for the first time', null, true, 5, 'open'],
  ['wrong for the first time, without a time to hold', null, true, 0, 'fire'],
  ['wrong, but not for long enough', pending(4.9), true, 5, 'keep'],
  ['wrong for long enough', pending(5), true, 5, 'fire'],
  ['right again before it was told', pending(4), false, 5, 'drop'],
  ['still wrong', firing(null), true, 5, 'keep'],
  ['wrong again while it calmed', firing(3), true, 5, 'keep'],
  ['right at last', firing(null), false, 5, 'calm'],
  ['right, but not for long enough', firing(9.9), false, 10, 'calm'],
  ['right for long enough', firing(10), false, 10, 'resolve'],
  ['right for four minutes, of a rule that holds for no time', firing(4), false, 0, 'calm'],
  ['right for five minutes, of a rule that holds for no time', firing(5), false, 0, 'resolve'],
])('an alert that is %s takes the step that its table says', (_, open, wrong, hold, step) => {
  expect(nextStep(open, wrong, hold, at)).toBe(step)
})
