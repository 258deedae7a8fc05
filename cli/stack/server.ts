import { once } from 'node:events'
import { closeSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { UnsafeError } from '../../core/errors'
import { tail } from './command'
import type { Guardian } from './guardian'
import { openLogFile } from './log-file'

/** A server process of the embedded stack, with its log in a file. */
export interface Server {
  name: string
  pid: number
  port: number
  logFile: string
  /** Settles when the process ends, wanted or not. */
  ended: Promise<void>
}

export interface ServerCommand {
  name: string
  program: string
  args: string[]
  env: NodeJS.ProcessEnv
  port: number
  logFile: string
  guardian: Guardian
}

/** Starts a server that ends with us, however we go. */
export async function startServer(command: ServerCommand): Promise<Server> {
  const log = openLogFile(command.logFile)
  const child = command.guardian.start(command.program, command.args, { env: command.env, log })
  closeSync(log)
  await once(child, 'spawn')
  child.unref()
  const { name, port, logFile } = command
  const ended = once(child, 'exit').then(() => {})
  return { name, pid: child.pid!, port, logFile, ended }
}

/**
 * Asks `probe` until it answers. @throws UnsafeError with the last lines of the server's log when the server ends first
 * or does not answer in time.
 */
export async function untilReady(
  server: Server,
  probe: () => Promise<unknown>,
  limitMs: number,
): Promise<void> {
  let ended = false
  server.ended.then(() => {
    ended = true
  })
  const deadline = Date.now() + limitMs
  for (;;) {
    try {
      await probe()
      return
    } catch (error) {
      if (ended) throw await failure(server, 'ended while starting')
      if (Date.now() > deadline)
        throw await failure(server, `does not answer after ${limitMs / 1000} s (${(error as Error).message})`)
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** What to tell a person about a server that failed: which, where its log is, and how that ends. */
export async function failure(server: Pick<Server, 'name' | 'logFile'>, what: string): Promise<UnsafeError> {
  const log = await readFile(server.logFile, 'utf8').catch(() => '')
  const full = /No space left on device|Disk is full|errno:? 28/i.test(log.slice(-4000))
  const remedy = full
    ? 'The disk is full; free some space and start again.'
    : `The end of ${server.logFile} says why:`
  return new UnsafeError(`${server.name} ${what}. ${remedy}\n${tail(log)}`)
}

/** SIGTERM, then SIGKILL when it still runs after `graceMs`. Works for processes of another starter too. */
export async function endProcess(pid: number, graceMs: number): Promise<void> {
  if (!signal(pid, 'SIGTERM')) return
  const deadline = Date.now() + graceMs
  while (signal(pid, 0)) {
    if (Date.now() > deadline) {
      signal(pid, 'SIGKILL')
      return
    }
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}

/** @returns whether there is such a process that we may signal. */
export function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name)
  } catch {
    return false
  }
}

/** Whether process `pid` runs a program whose command line holds `mark`: process ids are used again. */
export async function runs(pid: number, mark: string): Promise<boolean> {
  if (!signal(pid, 0)) return false
  const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => undefined)
  // Without /proc (not Linux) the living process must do as evidence.
  return line === undefined ? true : line.includes(mark) || basename(line.split('\0')[0]!) === mark
}
