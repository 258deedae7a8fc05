import { setTimeout as sleep } from 'node:timers/promises'
import type { Queue } from './queue'

/** The host's next turn comes too late for whoever waits for it. */
export class TurnTooFar extends Error {
  override name = 'TurnTooFar'
  constructor(
    readonly host: string,
    readonly waitMs: number,
  ) {
    super(`${host} may be asked again in ${Math.ceil(waitMs / 1000)} s only.`)
  }
}

/**
 * Does `work` in a turn of the host, for a fetch that belongs to no run: it waits for the host's delay and its Retry-After as
 * any fetch does, and the host's next fetch, of whichever worker, waits for it.
 * @param lastMs milliseconds that the work takes at most; after that the turn is over, also when its holder died.
 * @throws TurnTooFar when the turn would not come within `longestMs`; whatever `work` throws.
 */
export async function inTurn<T>(
  queue: Queue,
  host: string,
  { lastMs, longestMs, signal }: { lastMs: number; longestMs: number; signal: AbortSignal },
  work: () => Promise<T>,
): Promise<T> {
  const until = performance.now() + longestMs
  let turn = { end: 0, began: 0 }
  try {
    for (;;) {
      const left = Math.max(0, until - performance.now())
      const [waitMs, end, began] = await askTurn(queue, host, lastMs, left, turn.end)
      if (end === 0) throw new TurnTooFar(host, waitMs)
      turn = { end, began }
      if (waitMs === 0) return await work()
      if (left === 0) throw new TurnTooFar(host, waitMs)
      await sleep(Math.min(waitMs, left), undefined, { signal })
    }
  } finally {
    if (turn.end > 0)
      await queue.script('end-turn', [host, random(), turn.end, turn.began]).catch(() => {
        // It ends by itself after `lastMs`.
      })
  }
}

const askTurn = async (queue: Queue, host: string, lastMs: number, longestMs: number, kept: number) =>
  (await queue.script('turn', [host, Math.round(lastMs), Math.round(longestMs), kept === 0 ? '' : kept])) as [
    number,
    number,
    number,
  ]

const random = () => Math.floor(Math.random() * 2_147_483_647)
