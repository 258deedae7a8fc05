import { sentence } from '../../core/errors'
import { noteProgress } from '../../core/sign-of-life'
import type { Services } from '../context'
import { carryOut } from './carry-out'
import type { Driver } from './driver'

const EVERY_MS = 1_000

export interface Scaler {
  /** Settles when the turn under way is over; no other follows. */
  stop(): Promise<void>
}

/** Looks for scale requests each second and carries them out with `driver`, for as long as this process runs. */
export function startScaler(s: Services, driver: Driver): Scaler {
  let turn = Promise.resolve()
  let busy = false
  /** What is logged once, and not each second. */
  let told = ''
  const timer = setInterval(() => {
    if (busy) return
    busy = true
    turn = carryOut(s, driver)
      .then(() => {
        told = ''
        return noteProgress(Date.now())
      })
      .catch((error) => {
        const cause = sentence(error)
        if (cause !== told) s.log.warn({ cause }, 'scale requests wait for a server that does not answer')
        told = cause
      })
      .finally(() => {
        busy = false
      })
  }, EVERY_MS)
  return {
    async stop() {
      clearInterval(timer)
      await turn
    },
  }
}
