import { setTimeout as sleep } from 'node:timers/promises'

/** Polls, for what happens on an engine cannot be subscribed to in one way for all of it. */
export async function until<T>(
  what: string,
  seconds: number,
  look: () => Promise<T | false | undefined>,
): Promise<T> {
  const end = performance.now() + seconds * 1000
  for (;;) {
    const found = await look().catch(() => undefined)
    if (found) return found
    if (performance.now() > end) throw new Error(`${what}: not within ${seconds} s`)
    await sleep(700)
  }
}
