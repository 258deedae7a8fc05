import { sentence } from '../../core/errors'
import type { Services } from '../context'

const AGAIN_MS = 2_000
/** The newest of what a container wrote, where most is said of its end. */
const LAST_CHARACTERS = 400

/**
 * Follows the ends of workers until it is stopped, also past silences of whoever tells of them; each cause of one is logged once.
 * @param follow returns or rejects when the stream of news ends, and is then called again.
 * @param teller who tells, as it stands in the log.
 */
export function followEnds(
  s: Services,
  teller: string,
  follow: (stopped: AbortSignal) => Promise<void>,
): { stop(): Promise<void> } {
  const stopped = new AbortController()
  const done = (async () => {
    let told = ''
    while (!stopped.signal.aborted) {
      await follow(stopped.signal).catch((error) => {
        if (stopped.signal.aborted || told === sentence(error)) return
        told = sentence(error)
        s.log.warn({ cause: told }, `Ends of workers are not seen until ${teller} answers`)
      })
      if (!stopped.signal.aborted) await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
    }
  })()
  return {
    async stop() {
      stopped.abort()
      await done
    },
  }
}

/** The last lines of a container as they stand behind a cause; nothing for none. */
export function lastLines(all: string): string {
  const last = all.length > LAST_CHARACTERS ? `… ${all.slice(-LAST_CHARACTERS)}` : all
  return last && `; last lines: ${last}`
}
