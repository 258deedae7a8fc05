import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { parse } from 'yaml'
import { childEnv, env } from '../core/env'
import type { Database } from '../drizzle/database'
import { type Finding, fail, ok, warn } from './finding'
import { packageFile } from './package-file'

const MB = 1024 * 1024
/** A worker at rest. */
const AT_REST = 120 * MB
/** What a page may take for each byte of its body: bytes, text, tree. */
const PER_BYTE = 4
/** What the system and its caches need beside the containers. */
const SYSTEM = 512 * MB

/** What one worker may take, in bytes: `pages` at once, each of the largest size that is taken. */
const workerNeeds = (pages: number, bodyBytes: number) => AT_REST + pages * PER_BYTE * bodyBytes

/**
 * Judges what runs here: containers where their limit is known, else processes. The queues' settings count when the database is at
 * hand, for they override the environment.
 */
export async function memory(database?: Database): Promise<Finding> {
  const { QUEUE_KEY, CONCURRENT_REQUESTS, MAX_BODY_BYTES, WORKER_MEMORY, WORKERS } = env()
  const [rows] =
    (await database?.pool.query("SELECT name, concurrency FROM queues WHERE kind = 'http'")) ?? []
  const stored = (rows ?? []) as Plan['queues']
  const plan = {
    queues: stored.length > 0 ? stored : [{ name: QUEUE_KEY, concurrency: CONCURRENT_REQUESTS }],
    bodyBytes: MAX_BODY_BYTES,
    machine: totalmem(),
  }
  if (runsInContainers()) {
    const file = await readFile(packageFile('compose.yaml'), 'utf8')
    return containerMemory(plan, composeLimits(file, childEnv()))
  }
  return WORKER_MEMORY
    ? containerMemory(plan, { worker: bytesOf(WORKER_MEMORY) })
    : machineMemory(plan, WORKERS)
}

/** Whether this is the folder that `npm run init` has prepared for Compose, rather than a machine with servers of its own. */
export function runsInContainers(): boolean {
  const { REDIS_URL, REDIS_HOST } = env()
  return (
    !(REDIS_URL || REDIS_HOST) &&
    childEnv().MYSQL_ROOT_PASSWORD !== undefined &&
    existsSync(packageFile('compose.yaml'))
  )
}

interface Plan {
  /** Pages that a worker fetches at once, by its queue. */
  queues: { name: string; concurrency: number }[]
  /** MAX_BODY_BYTES. */
  bodyBytes: number
  /** Memory of this machine, in bytes. */
  machine: number
}

/**
 * Whether the limit of a worker's container holds its pages, and the machine all limits. Pages are reckoned at their largest: what
 * exceeds the limit is killed in the middle of its work, with exit code 137.
 * @param limits in bytes, of the containers that run at once; without the others' only the worker's own is judged.
 */
export function containerMemory(
  { queues, bodyBytes, machine }: Plan,
  limits: Record<string, number> & { worker: number },
): Finding {
  const { name, concurrency } = queues.toSorted((a, b) => b.concurrency - a.concurrency)[0]!
  const needs = workerNeeds(concurrency, bodyBytes)
  const sum = `120 + ${concurrency} pages × ${PER_BYTE} × ${mb(bodyBytes)} = ${mb(needs)} MB`
  if (needs > limits.worker) {
    const fits = Math.max(1, Math.floor((limits.worker - AT_REST) / (PER_BYTE * bodyBytes)))
    return fail(
      `A worker of the queue ${name} may need ${sum}, more than its memory limit of ${mb(limits.worker)} MB; set WORKER_MEMORY=${mb(needs)}m in .env, or let the queue fetch ${fits} at once.`,
    )
  }
  const all = Object.values(limits).reduce((total, limit) => total + limit, SYSTEM)
  if (Object.keys(limits).length > 1 && all > machine) {
    const list = Object.entries(limits).map(([service, limit]) => `${service} ${mb(limit)}`)
    return fail(
      `The memory limits are more than this machine has: ${list.join(' + ')} + system ${mb(SYSTEM)} = ${mb(all)} MB of ${mb(machine)}; lower them in .env, or add memory.`,
    )
  }
  return ok(`a worker may need ${sum} of its ${mb(limits.worker)}`)
}

/** The same for workers that are processes of this machine, which nothing limits but its memory. */
export function machineMemory({ queues, bodyBytes, machine }: Plan, workers: number): Finding {
  const most = Math.max(...queues.map(({ concurrency }) => concurrency))
  const needs = workers * workerNeeds(most, bodyBytes) + SYSTEM
  const sum = `${workers} × (120 + ${most} pages × ${PER_BYTE} × ${mb(bodyBytes)}) + ${mb(SYSTEM)} = ${mb(needs)} MB`
  return needs > machine
    ? warn(
        `The workers may need ${sum}, more than the ${mb(machine)} of this machine; lower WORKERS, CONCURRENT_REQUESTS or MAX_BODY_BYTES.`,
      )
    : ok(`the workers may need ${sum} of ${mb(machine)}`)
}

const mb = (bytes: number) => Math.round(bytes / MB)

/** What compose.yaml limits the containers to that `docker compose up -d` leaves running. @param variables as Compose would read them. */
export function composeLimits(
  file: string,
  variables: Record<string, string | undefined>,
): Record<string, number> & { worker: number } {
  const { services } = parse(file, { merge: true }) as {
    services: Record<string, { mem_limit?: string; restart?: string; profiles?: string[] }>
  }
  const limits = Object.fromEntries(
    Object.entries(services)
      // The one that ends by itself gives back what it took.
      .filter(([, one]) => one.mem_limit && !one.restart?.startsWith('on-failure') && !one.profiles)
      .map(([name, one]) => [
        name,
        bytesOf(one.mem_limit!.replace(/\$\{(\w+):-([^}]*)\}/, (_, key, other) => variables[key] || other)),
      ]),
  )
  return { ...limits, worker: limits.worker! }
}

/** @param text as Compose writes sizes: `768m`, `1.5gb`, `1073741824`. */
export function bytesOf(text: string): number {
  const [, number, unit = ''] = /^([\d.]+)\s*([bkmg]?)b?$/i.exec(text.trim()) ?? []
  return Number(number) * 1024 ** ['', 'k', 'm', 'g'].indexOf(unit.toLowerCase().replace('b', ''))
}
