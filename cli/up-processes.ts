import { dirname, join } from 'node:path'
import { childEnv, env } from '../core/env'
import { consoleUrl } from '../server/console-url'
import type { Services } from '../server/context'
import { CONSOLE_PROGRAM } from './console-build'
import { packageFile } from './package-file'
import { startGuardian } from './stack/guardian'
import { type Ended, type Kept, keepRunning } from './stack/keep-running'
import { failure } from './stack/server'
import { workerThreads } from './worker-pool'

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
  const keep = (
    name: string,
    script: string,
    graceMs: number,
    more: Record<string, string>,
    onEnd?: (ended: Ended) => void,
  ) => {
    const logFile = join(logFolder, `${name}.log`)
    const process = keepRunning({
      script,
      cwd: dirname(script),
      env: childEnv(more),
      logFile,
      guardian,
      ended(ended) {
        say(
          `${name} ended (${ended.how}) and is started again in ${ended.againMs / 1000} s; its log is ${logFile}.`,
        )
        onEnd?.(ended)
      },
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
  const drain = String(Math.min(DRAIN_SECONDS, env().DRAIN_SECONDS))
  for (let n = 1; n <= options.workers; n++)
    keep(
      `worker-${n}`,
      packageFile('dist/worker.js'),
      DRAIN_SECONDS * 1000 + 1_000,
      { DRAIN_SECONDS: drain, ...workerThreads() },
      (ended) => void recordRestart(services, `worker-${n}`, QUEUE_KEY, ended),
    )
  const stop = async () => {
    await Promise.all(kept.map(({ process, graceMs }) => process.stop(graceMs)))
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
      await fetch(`${consoleUrl()}/api/health?probe=live`, { signal: AbortSignal.timeout(5_000) })
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
async function recordRestart(services: Services, worker: string, queue: string, ended: Ended): Promise<void> {
  await services.database.pool
    .execute(
      "INSERT INTO worker_events (worker_id, queue, kind, detail, at) VALUES (?, ?, 'restart', ?, UTC_TIMESTAMP(3))",
      [worker, queue, `${ended.how}; started again after ${ended.againMs / 1000} s`],
    )
    .catch((error: unknown) => services.log.warn({ err: error }, 'the restart could not be recorded'))
}
