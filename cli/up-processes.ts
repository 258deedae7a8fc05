import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { childEnv, env } from '../core/env'
import { consoleUrl } from '../server/console-url'
import type { Services } from '../server/context'
import { startScaler } from '../server/scaler/scaler'
import { recordWorkerEnd } from '../server/services/worker-end'
import { CONSOLE_PROGRAM } from './console-build'
import { packageFile } from './package-file'
import { workerProcesses } from './process-driver'
import { startGuardian } from './stack/guardian'
import { type Ended, type Kept, keepRunning } from './stack/keep-running'
import { failure } from './stack/server'

/** Seconds a worker has to end its pages, so that Ctrl-C stops everything within ten. */
const DRAIN_SECONDS = 5
const CONSOLE_READY_MS = 60_000

export interface Processes {
  /** SIGTERM to all; settles when all are gone. */
  stop(): Promise<void>
}

/** Starts console, scheduler and workers as processes of their own, and waits until the console answers. */
export async function startProcesses(
  services: Services,
  options: { workers: number; logFolder: string; say(message: string): void },
): Promise<Processes> {
  const { logFolder, say } = options
  const { HTTP_PORT, HTTP_HOST, QUEUE_KEY } = env()
  const guardian = startGuardian()
  const kept: { process: Kept; graceMs: number }[] = []
  const sayEnded = (name: string, { how, againMs }: Ended, logFile: string) =>
    say(`${name} ended (${how}) and is started again in ${againMs / 1000} s; its log is ${logFile}.`)
  const keep = (name: string, script: string, graceMs: number, more: Record<string, string>) => {
    const logFile = join(logFolder, `${name}.log`)
    const process = keepRunning({
      script,
      cwd: dirname(script),
      env: childEnv(more),
      logFile,
      guardian,
      ended: (ended) => sayEnded(name, ended, logFile),
    })
    kept.push({ process, graceMs })
    return { name, process, logFile }
  }

  const web = keep('console', packageFile(CONSOLE_PROGRAM), 3_000, {
    NODE_ENV: 'production',
    PORT: String(HTTP_PORT),
    HOSTNAME: HTTP_HOST,
  })
  keep('scheduler', packageFile('dist/scheduler.js'), 5_000, {})
  const workers = workerProcesses({
    logFolder,
    drainSeconds: Math.min(DRAIN_SECONDS, env().DRAIN_SECONDS),
    guardian,
    ended({ name, queue, logFile }, ended) {
      sayEnded(name, ended, logFile)
      void recordRestart(services, name, queue, ended)
    },
  })
  await workers.scale(QUEUE_KEY, 'http', options.workers)
  const scaler = startScaler(services, workers)
  const stop = async () => {
    await scaler.stop()
    await Promise.all([workers.stop(), ...kept.map(({ process, graceMs }) => process.stop(graceMs))])
    guardian.close()
  }
  try {
    await consoleAnswers(web)
  } catch (error) {
    await stop()
    throw error
  }
  return { stop }
}

async function consoleAnswers(web: { name: string; process: Kept; logFile: string }): Promise<void> {
  const deadline = Date.now() + CONSOLE_READY_MS
  for (;;) {
    try {
      await fetch(`${consoleUrl()}/healthz`, { signal: AbortSignal.timeout(5_000) })
      return
    } catch (error) {
      if (web.process.pid() === undefined) throw await failure(web, 'ended while starting')
      if (Date.now() > deadline)
        throw await failure(
          web,
          `does not answer after ${CONSOLE_READY_MS / 1000} s (${(error as Error).message})`,
        )
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** A restart is an event of the fleet, so that the console shows it. */
async function recordRestart(services: Services, name: string, queue: string, ended: Ended): Promise<void> {
  const detail = `${ended.how}; started again after ${ended.againMs / 1000} s`
  await recordWorkerEnd(services, {
    name,
    hostname: hostname(),
    pid: ended.pid,
    at: Date.now(),
    queue,
    kind: 'restart',
    detail,
  }).catch((error: unknown) => services.log.warn({ err: error }, 'the restart could not be recorded'))
}
