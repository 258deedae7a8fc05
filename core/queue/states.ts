/**
 * The states of a URL within a run, what each means and how it is left.
 *
 * ```
 *            admit                claim               ack
 *   (link) ────────▶ pending ───────────▶ running ─────────▶ done | ignored | failed
 *                     ▲   ▲                │    │                              │
 *                     │   └── reap, release┘    │ retry (attempts left)        │ redrive (by an operator)
 *                     │                         ▼                              │
 *                     └──────── due time ──── retry                            │
 *                     └────────────────────────────────────────────────────────┘
 *   cancel: pending | retry | running → cancelled
 * ```
 */
export const STATES = ['pending', 'running', 'retry', 'done', 'failed', 'ignored', 'cancelled'] as const
export type State = (typeof STATES)[number]

/** A worker may acknowledge with these only. */
export const OUTCOMES = ['done', 'failed', 'ignored'] as const
export type OutcomeState = (typeof OUTCOMES)[number]

export type Counts = Record<State, number> & {
  /** Unique URLs that entered the run: the sum of all the states, at every instant (invariant I1). */
  admitted: number
}
