import type { HostView } from './hosts'

/** Whose delay holds for a host: the queue's, an operator's for it, its robots.txt's, or what its answers call for. */
export type DelaySource = 'queue' | 'operator' | 'robots' | 'pace'

/** The delay between two fetches of a host, and whose it is: the longest of all. */
export function delayInForce(
  { rateMs, ownDelayMs, paceMs }: Pick<HostView, 'rateMs' | 'ownDelayMs' | 'paceMs'>,
  queue: { delayMs: number; adaptive: boolean },
): { delayMs: number; source: DelaySource } {
  const base = rateMs ?? queue.delayMs
  const delayMs = Math.max(base, ownDelayMs, queue.adaptive ? paceMs : 0)
  if (delayMs === base) return { delayMs, source: rateMs === null ? 'queue' : 'operator' }
  return { delayMs, source: delayMs === ownDelayMs ? 'robots' : 'pace' }
}
