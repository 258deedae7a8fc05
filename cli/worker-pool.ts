import { join } from 'node:path'
import { childEnv, env } from '../core/env'
import { Unavailable } from '../core/errors'
import { packageFile } from './package-file'
import { startGuardian } from './stack/guardian'
import { keepRunning } from './stack/keep-running'

export interface WorkerPool {
  /** Process ids of those that live. */
  pids(): number[]
  /** Rejects when the workers cannot stay up; never resolves. */
  broken: Promise<never>
  /** Lets them finish or hand back what they hold (up to DRAIN_SECONDS), then ends them. */
  stop(): Promise<void>
}

/** So many ends by an error of its own, not by a signal, and starting it again is no remedy. */
const OWN_FAULTS = 3
/** What a worker may take beyond its drain time. */
const GRACE_MS = 5_000

/**
 * Name look-ups share the pool's threads with decompression; Node's four would let a few slow name servers hold up all pages. A
 * worker can't see to it itself: its pool is there before its first line runs.
 */
export const workerThreads = () => ({ UV_THREADPOOL_SIZE: String(env().UV_THREADPOOL_SIZE ?? 16) })

/** Runs `count` workers of a queue as processes of their own, logging to `<stateDir>/logs/workers.log`. */
export function startWorkers(options: {
  count: number
  queue: string
  stateDir: string
  env?: Record<string, string>
  /** Longest delay before an ended worker is started again, in milliseconds. */
  longestMs?: number
}): WorkerPool {
  const { count, queue } = options
  const logFile = join(options.stateDir, 'logs', 'workers.log')
  const guardian = startGuardian()
  let faults = 0
  let fail: (error: Error) => void
  const broken = new Promise<never>((_, reject) => {
    fail = reject
  })
  broken.catch(() => {})
  const workers = Array.from({ length: count }, () =>
    keepRunning({
      script: packageFile('dist/worker.js'),
      env: childEnv({ LOG_LEVEL: 'info', ...workerThreads(), ...options.env, QUEUE_KEY: queue }),
      logFile,
      longestMs: options.longestMs,
      guardian,
      ended: ({ how }) => {
        if (!how.startsWith('signal') && ++faults === OWN_FAULTS)
          fail(new Unavailable(`The workers keep ending (${how}); the reason is at the end of ${logFile}.`))
      },
    }),
  )
  return {
    pids: () => workers.flatMap((worker) => worker.pid() ?? []),
    broken,
    async stop() {
      const graceMs = env().DRAIN_SECONDS * 1000 + GRACE_MS
      await Promise.all(workers.map((worker) => worker.stop(graceMs)))
      guardian.close()
    },
  }
}
