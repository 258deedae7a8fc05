import { MINUTE_MS } from './rule'

/** An open alert, as far as its next step depends on it. */
export interface OpenAlert {
  state: 'pending' | 'firing'
  startedAt: Date
  calmSince: Date | null
}

/**
 * What becomes of an alert at a look:
 *
 * | was      | figure | then                                                                         |
 * |----------|--------|------------------------------------------------------------------------------|
 * | –        | wrong  | `open`: it is pending; or `fire` at once, where the rule holds for no time   |
 * | pending  | wrong  | `keep`, and `fire` once it has been so for as long as the rule holds         |
 * | pending  | right  | `drop`: it was never told                                                    |
 * | firing   | wrong  | `keep`                                                                       |
 * | firing   | right  | `calm`, and `resolve` once it has been so for as long, and five minutes      |
 */
export type Step = 'none' | 'open' | 'keep' | 'drop' | 'fire' | 'calm' | 'resolve'

/** A figure that swings about its threshold is one alert and not one a minute. */
const CALM_MINUTES = 5

export function nextStep(open: OpenAlert | null, wrong: boolean, holdMinutes: number, at: Date): Step {
  const holdMs = holdMinutes * MINUTE_MS
  const since = (from: Date) => at.getTime() - from.getTime()
  if (!open) return !wrong ? 'none' : holdMs === 0 ? 'fire' : 'open'
  if (open.state === 'pending') return !wrong ? 'drop' : since(open.startedAt) >= holdMs ? 'fire' : 'keep'
  if (wrong) return 'keep'
  const calmMs = Math.max(holdMs, CALM_MINUTES * MINUTE_MS)
  return open.calmSince && since(open.calmSince) >= calmMs ? 'resolve' : 'calm'
}
