import type { Redis } from 'ioredis'
import * as keys from './keys'
import { OUTCOMES, type OutcomeState } from './states'

/** How much a queue holds at one instant. */
export interface QueueLengths {
  inbox: number
  pending: number
  running: number
  retry: number
  failed: number
  rejected: number
  hosts: number
  paused: boolean
  draining: boolean
  epoch: number
  totals: Record<OutcomeState, number>
}

export async function readLengths({ redis, name }: { redis: Redis; name: string }): Promise<QueueLengths> {
  const replies = await redis
    .multi()
    .llen(keys.inboxKey(name))
    .zcard(keys.pendingKey(name))
    .zcard(keys.leasedKey(name))
    .zcard(keys.delayedKey(name))
    .zcard(keys.deadKey(name))
    .llen(keys.rejectedKey(name))
    .hlen(keys.hostKey(name))
    .hmget(keys.metaKey(name), 'paused', 'epoch', 'draining')
    .hmget(keys.countsKey(name), ...OUTCOMES.map((state) => `total.${state}`))
    .exec()
  const values = (replies ?? []).map(([error, value]) => {
    if (error) throw error
    return value
  })
  const [inbox, pending, running, retry, failed, rejected, hosts] = values as number[]
  const [meta, totals] = values.slice(7) as [(string | null)[], (string | null)[]]
  return {
    inbox: inbox!,
    pending: pending!,
    running: running!,
    retry: retry!,
    failed: failed!,
    rejected: rejected!,
    hosts: hosts!,
    paused: meta[0] === '1',
    draining: meta[2] === '1',
    epoch: Number(meta[1] ?? 0),
    totals: Object.fromEntries(OUTCOMES.map((state, at) => [state, Number(totals[at] ?? 0)])) as Record<
      OutcomeState,
      number
    >,
  }
}
