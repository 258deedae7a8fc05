import { join } from 'node:path'
import { childEnv } from '../core/env'
import { UserError } from '../core/errors'
import type { Driver } from '../server/scaler/driver'
import { packageFile } from './package-file'
import type { Guardian } from './stack/guardian'
import { type Ended, type Kept, keepRunning } from './stack/keep-running'
import { workerThreads } from './worker-pool'

/** More than this on one machine slow each other down. */
const MOST = 64

export interface WorkerProcesses extends Driver {
  /** Process ids of a queue's workers that live and do not drain. */
  pids(queue: string): number[]
  /** Drains all; settles when all are gone, those that drained before included. */
  stop(): Promise<void>
}

/** Workers as processes of this machine, started and drained while everything else runs on. */
export function workerProcesses(options: {
  logFolder: string
  drainSeconds: number
  guardian: Guardian
  ended(worker: { name: string; queue: string; logFile: string }, ended: Ended): void
}): WorkerProcesses {
  const { logFolder, drainSeconds } = options
  const kept = new Map<string, { n: number; process: Kept }[]>()
  const draining = new Set<Promise<void>>()
  const graceMs = drainSeconds * 1000 + 1_000

  const start = (queue: string, taken: number[]) => {
    let n = 1
    while (taken.includes(n)) n++
    const name = `worker-${n}`
    const logFile = join(logFolder, `${name}.log`)
    const process = keepRunning({
      script: packageFile('dist/worker.js'),
      cwd: packageFile('dist'),
      env: childEnv({ QUEUE_KEY: queue, DRAIN_SECONDS: String(drainSeconds), ...workerThreads() }),
      logFile,
      guardian: options.guardian,
      ended: (ended) => options.ended({ name, queue, logFile }, ended),
    })
    return { n, process }
  }
  const drain = (process: Kept) => {
    const gone = process.stop(graceMs).finally(() => draining.delete(gone))
    draining.add(gone)
  }

  return {
    async scale(queue, kind, wanted) {
      if (kind !== 'http')
        throw new UserError(`This machine runs no workers of kind ${kind}; start those in containers.`)
      const mine = kept.get(queue) ?? []
      const before = mine.length
      const others = [...kept].reduce((sum, [name, list]) => sum + (name === queue ? 0 : list.length), 0)
      if (others + wanted > MOST)
        throw new UserError(
          `This machine runs at most ${MOST} workers, and ${others} serve other queues; ask for ${MOST - others} or fewer.`,
        )
      for (const { process } of mine.splice(wanted)) drain(process)
      kept.set(queue, mine)
      while (mine.length < wanted) {
        const taken = [...kept.values()].flatMap((list) => list.map(({ n }) => n))
        mine.push(start(queue, taken))
      }
      return before
    },
    pids: (queue) => (kept.get(queue) ?? []).flatMap(({ process }) => process.pid() ?? []),
    async stop() {
      for (const list of kept.values()) for (const { process } of list.splice(0)) drain(process)
      await Promise.all(draining)
    },
  }
}
