import { join } from 'node:path'
import { childEnv, env } from '../core/env'
import { UserError } from '../core/errors'
import type { Driver } from '../server/scaler/driver'
import { packageFile } from './package-file'
import { findChromium } from './stack/chromium'
import type { Guardian } from './stack/guardian'
import { type Ended, type Kept, keepRunning } from './stack/keep-running'
import { workerThreads } from './worker-pool'

type Kind = Parameters<Driver['scale']>[1]

/** Pages at once of a worker that renders: it shares the machine with everything else. */
const RENDER_PAGES = 2

/** More than this on one machine slow each other down. */
const MOST = 64

export interface WorkerProcesses extends Driver {
  /** Process ids of a queue's workers that live and do not drain. */
  pids(queue: string, kind?: Kind): number[]
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

  const start = (queue: string, kind: Kind, taken: number[], more: Record<string, string>) => {
    let n = 1
    while (taken.includes(n)) n++
    const name = `${PROGRAM[kind]}-${n}`
    const logFile = join(logFolder, `${name}.log`)
    const process = keepRunning({
      script: packageFile(`dist/${PROGRAM[kind]}.js`),
      cwd: packageFile('dist'),
      env: childEnv({ QUEUE_KEY: queue, DRAIN_SECONDS: String(drainSeconds), ...workerThreads(), ...more }),
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
      const key = `${kind} ${queue}`
      const mine = kept.get(key) ?? []
      const before = mine.length
      const others = [...kept].reduce((sum, [name, list]) => sum + (name === key ? 0 : list.length), 0)
      if (others + wanted > MOST)
        throw new UserError(
          `This machine runs at most ${MOST} workers, and ${others} serve other queues or are of the other kind; ask for ${MOST - others} or fewer.`,
        )
      const more = kind === 'render' && wanted > before ? await rendering() : {}
      for (const { process } of mine.splice(wanted)) drain(process)
      kept.set(key, mine)
      while (mine.length < wanted) {
        const taken = [...kept.values()].flatMap((list) => list.map(({ n }) => n))
        mine.push(start(queue, kind, taken, more))
      }
      return before
    },
    pids: (queue, kind = 'http') =>
      (kept.get(`${kind} ${queue}`) ?? []).flatMap(({ process }) => process.pid() ?? []),
    async stop() {
      for (const list of kept.values()) for (const { process } of list.splice(0)) drain(process)
      await Promise.all(draining)
    },
  }
}

/** Programs of `dist/`. */
const PROGRAM = { http: 'worker', render: 'render' } as const satisfies Record<Kind, string>

/** @throws UserError where there is no browser. */
async function rendering(): Promise<Record<string, string>> {
  const { CHROMIUM_PATH, RENDER_PAGES: asked = RENDER_PAGES } = env()
  if (CHROMIUM_PATH) return { CHROMIUM_PATH, RENDER_PAGES: String(asked) }
  const found = await findChromium()
  if (!found.path)
    throw new UserError(
      'This machine has no Chromium, which workers that render pages need; install it (on Debian: apt-get install chromium), or name it in CHROMIUM_PATH.',
    )
  return { CHROMIUM_PATH: found.path, RENDER_PAGES: String(asked) }
}
