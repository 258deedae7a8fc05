import type { ScaleLimits } from '../services/scale-limits'

/** What is seen of a queue at one moment; times in ms since 1970. */
export interface Sight {
  now: number
  /** Whether work waits that a free worker could begin at once. */
  waits: boolean
  /** Whether more workers could do anything at all: not with a queue that is paused, or full to its own limit. */
  open: boolean
  /** Pages in flight, and how many one worker may have. */
  running: number
  concurrency: number
  /** Pages that wait for anything. */
  left: number
  workers: number
}

/** Since when it has been so without a break; null when it is not. */
export interface Memory {
  behindSince: number | null
  idleSince: number | null
}

export interface Decision {
  memory: Memory
  /** The number to ask for, and why, for people. */
  ask?: { wanted: number; cause: string }
}

/** Of what one worker less could have in flight, so much may be taken: the rest is for what comes next. */
const FILL = 0.7
/** Of the workers there are, so many more at a time: a long backlog is met in few steps, a small one in small steps. */
const GROWTH = 0.5

/**
 * Whether a queue wants more workers or fewer. More when work has waited for a worker without a break for `upSeconds`: the age of the
 * backlog, counted only while workers are what it waits for. One less when for `downSeconds` nothing waited and the rest would have
 * done. Between the two lies a band in which nothing happens, and after each step both begin to count anew, so that the number
 * does not swing. The limits are kept here as far as they are known, and enforced where the request is made.
 */
export function decide(limits: ScaleLimits, memory: Memory, sight: Sight): Decision {
  const { now, waits, open, running, concurrency, left, workers } = sight
  const { fewest, most, perMinute, upSeconds, downSeconds } = limits
  const step = (wanted: number) =>
    perMinute === null ? wanted : Math.max(workers - perMinute, Math.min(workers + perMinute, wanted))
  const anew: Memory = { behindSince: null, idleSince: null }
  if (workers < fewest)
    return { memory: anew, ask: { wanted: step(fewest), cause: `fewer workers than the fewest, ${fewest}` } }
  if (workers > most)
    return { memory: anew, ask: { wanted: step(most), cause: `more workers than the most, ${most}` } }

  const behind = open && waits
  const fits = workers > 1 ? running <= FILL * concurrency * (workers - 1) : running + left === 0
  const next: Memory = {
    behindSince: behind ? (memory.behindSince ?? now) : null,
    idleSince: !waits && fits && workers > 0 ? (memory.idleSince ?? now) : null,
  }
  const waited = next.behindSince === null ? 0 : Math.round((now - next.behindSince) / 1000)
  // From nothing there is nobody to wait for.
  if (behind && (workers === 0 || waited >= upSeconds) && workers < most) {
    const wanted = Math.min(most, step(workers + Math.max(1, Math.round(workers * GROWTH))))
    const cause =
      workers === 0
        ? 'work waits, and there is no worker'
        : `work has waited for a worker for ${waited} s without a break`
    return { memory: anew, ask: { wanted, cause } }
  }
  const idle = next.idleSince === null ? 0 : Math.round((now - next.idleSince) / 1000)
  if (next.idleSince !== null && idle >= downSeconds && workers > fewest)
    return {
      memory: anew,
      ask: {
        wanted: workers - 1,
        cause: `one less would have done for ${idle} s: nothing waited, ${running} in flight`,
      },
    }
  return { memory: next }
}
