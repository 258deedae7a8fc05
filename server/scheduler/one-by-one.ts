import { sentence, UserError } from '../../core/errors'
import { isAway } from '../../drizzle/database'
import type { Services } from '../context'

/** How long a fault that repeats itself is not told again: duties come round several times a second. */
const QUIET_MS = 60_000
const toldAt = new Map<string, number>()

/**
 * Does `work` for each in turn, as long as `still` allows. A fault of one is logged under its name (`{ schedule: 7 }`), and the
 * next go on; only a server that is away ends the turn, for it is away for all.
 * @throws what says that Redis or the database does not answer.
 */
export async function oneByOne<T>(
  s: Services,
  list: readonly T[],
  still: () => boolean,
  nameOf: (one: T) => Record<string, number | string>,
  work: (one: T) => Promise<void>,
): Promise<void> {
  for (const one of list) {
    if (!still()) return
    try {
      await work(one)
    } catch (error) {
      if (isAway(error)) throw error
      tell(s, nameOf(one), error)
    }
  }
}

function tell(s: Services, name: Record<string, number | string>, error: unknown): void {
  const key = JSON.stringify([name, sentence(error)])
  const now = performance.now()
  if (now - (toldAt.get(key) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return
  if (toldAt.size > 10_000) toldAt.clear()
  toldAt.set(key, now)
  // A person's fault needs no stack.
  const fault = error instanceof UserError ? { cause: sentence(error) } : { err: error }
  s.log.error(
    { ...name, ...fault },
    'a duty failed for one of many; the others go on, and its next turn tries again',
  )
}
