import { env } from './env'
import { sentence, Unavailable } from './errors'
import type { Log } from './log'

const PAUSE_MS = 1_000

/**
 * Tries `open` again each second while the server it is for is not there yet, for STARTUP_SECONDS in all: containers start
 * together, and a database takes longer than a worker. What is wrong is logged each time it changes, so that a wrong
 * password can be read at once.
 * @throws Unavailable the last one, when the time is over; anything else `open` throws at once.
 */
export async function patiently<T>(log: Log, open: () => Promise<T>): Promise<T> {
  const until = performance.now() + env().STARTUP_SECONDS * 1000
  let told = ''
  for (;;) {
    try {
      return await open()
    } catch (error) {
      if (!(error instanceof Unavailable) || performance.now() + PAUSE_MS > until) throw error
      if (told !== error.message)
        log.warn({ cause: sentence(error), seconds: env().STARTUP_SECONDS }, 'Waiting for a server')
      told = error.message
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
}
