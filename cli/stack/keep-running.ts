import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync } from 'node:fs'
import type { Guardian } from './guardian'
import { openLogFile } from './log-file'

export interface Ended {
  /** How it ended, for people: `exit code 1`, `signal SIGKILL`. */
  how: string
  /** Milliseconds until it is started again. */
  againMs: number
  /** Process id it had; absent when it could not be started. */
  pid?: number | undefined
}

export interface Kept {
  /** Process id, undefined between two lives. */
  pid(): number | undefined
  /** SIGTERM, and SIGKILL after `graceMs`; it is not started again. */
  stop(graceMs: number): Promise<void>
}

const FIRST_MS = 500
const LONGEST_MS = 30_000
/** Having lived this long, a process that ends is started again without the delay that earlier ends built up. */
const STABLE_MS = 60_000

/**
 * Runs a Node program and starts it again when it ends unasked: after 0.5 s, then twice as long each time, up to 30 s.
 * Its output goes to `logFile`; with us, however we go, the guardian ends it.
 */
export function keepRunning(options: {
  script: string
  args?: string[]
  cwd?: string
  env: NodeJS.ProcessEnv
  logFile: string
  /** Longest delay before a restart, in milliseconds. */
  longestMs?: number
  guardian: Guardian
  ended(what: Ended): void
}): Kept {
  let child: ChildProcess | undefined
  let again: NodeJS.Timeout | undefined
  let stopping = false
  let fails = 0

  const start = () => {
    const began = Date.now()
    const log = openLogFile(options.logFile)
    const process = options.guardian.start(
      globalThis.process.execPath,
      [options.script, ...(options.args ?? [])],
      { cwd: options.cwd, env: options.env, log },
    )
    closeSync(log)
    child = process
    let gone = false
    const onEnd = (how: string) => {
      if (gone) return
      gone = true
      if (process.pid) options.guardian.forget(process.pid)
      child = undefined
      if (stopping) return
      fails = Date.now() - began > STABLE_MS ? 0 : fails
      const againMs = Math.min(FIRST_MS * 2 ** fails++, options.longestMs ?? LONGEST_MS)
      options.ended({ how, againMs, pid: process.pid })
      again = setTimeout(start, againMs)
    }
    process.once('error', (error) => onEnd(error.message))
    process.once('exit', (code, signal) => onEnd(signal ? `signal ${signal}` : `exit code ${code}`))
  }
  start()

  return {
    pid: () => child?.pid,
    async stop(graceMs) {
      stopping = true
      clearTimeout(again)
      if (!child) return
      const process = child
      const ended = once(process, 'exit')
      process.kill('SIGTERM')
      const timer = setTimeout(() => process.kill('SIGKILL'), graceMs)
      await ended
      clearTimeout(timer)
    },
  }
}
