import { endCommands } from './stack/command'

export interface Interrupt {
  /** Aborted once a person or a supervisor wants this process to end. */
  signal: AbortSignal
  /** Settles then. */
  wanted: Promise<void>
  /** From now on the process ends within `LIMIT_MS`, in order or not. */
  hurry(): void
  /** Milliseconds until then, at most; all of them before `hurry` was called. */
  leftMs(): number
}

/** Ctrl-C stops everything within ten seconds; what is not stopped by now is ended by the guardians. */
const LIMIT_MS = 9_000
/** In a terminal both npm and we get the signal, and npm hands its own on: two within this time are one wish. */
const SAME_WISH_MS = 1_000

/** Turns SIGINT, SIGTERM and SIGHUP into a wish to stop in order; a second one ends the process at once. */
export function onInterrupt(): Interrupt {
  const controller = new AbortController()
  let resolve = () => {}
  const wanted = new Promise<void>((done) => {
    resolve = done
  })
  let first = 0
  let ends: number | undefined
  const listen = () => {
    if (first === 0) {
      first = Date.now()
      controller.abort()
      endCommands()
      resolve()
    } else if (Date.now() - first > SAME_WISH_MS) process.exit(130)
  }
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, listen)
  return {
    signal: controller.signal,
    wanted,
    hurry() {
      ends = Date.now() + LIMIT_MS
      setTimeout(() => process.exit(1), LIMIT_MS).unref()
    },
    leftMs: () => (ends === undefined ? LIMIT_MS : Math.max(0, ends - Date.now())),
  }
}
