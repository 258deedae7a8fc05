import type { Pool } from 'mysql2/promise'
import { UserError } from '../../core/errors'

export interface WorkerRecord {
  id: string
  kind: 'http' | 'render'
  queue: string
  hostname: string
  pid: number
}

/** @throws UserError when the queue is for workers of the other kind; one that is not known yet becomes what its first worker is. */
export async function requireKind(pool: Pool, queue: string, kind: WorkerRecord['kind']): Promise<void> {
  const [rows] = await pool.query('SELECT kind FROM queues WHERE name = ?', [queue])
  const found = (rows as { kind: WorkerRecord['kind'] }[])[0]?.kind ?? kind
  if (found !== kind)
    throw new UserError(
      `The queue ${queue} is of kind ${found}, and this is a worker of kind ${kind}; give it another QUEUE_KEY.`,
    )
}

/**
 * Enters the worker in the list that the console shows, and its start in the events.
 * @param remark what an operator should know of it; `doctor` repeats it.
 */
export async function registerWorker(
  pool: Pool,
  worker: WorkerRecord,
  remark: string | null = null,
): Promise<void> {
  await pool.query(
    "INSERT INTO workers (id, kind, queue, hostname, pid, state, started_at, heartbeat_at) VALUES (?, ?, ?, ?, ?, 'running', UTC_TIMESTAMP(3), UTC_TIMESTAMP(3))",
    [worker.id, worker.kind, worker.queue, worker.hostname, worker.pid],
  )
  await event(pool, worker, 'start', remark)
}

/**
 * A sign of life with what the worker is doing; revives a worker that was taken for lost. One that was under way when the worker
 * said that it stops, and comes later, changes nothing: it would be lost next, and count as a restart.
 */
export async function beat(
  pool: Pool,
  id: string,
  state: 'running' | 'draining',
  now: { running: number; done: number; failed: number; rssBytes: number },
): Promise<void> {
  await pool.query(
    "UPDATE workers SET state = ?, running = ?, done = ?, failed = ?, rss_bytes = ?, heartbeat_at = UTC_TIMESTAMP(3) WHERE id = ? AND state <> 'stopped'",
    [state, now.running, now.done, now.failed, now.rssBytes, id],
  )
}

/** The worker ended by its own will. */
export async function retireWorker(pool: Pool, worker: WorkerRecord): Promise<void> {
  await pool.query(
    "UPDATE workers SET state = 'stopped', running = 0, stopped_at = UTC_TIMESTAMP(3) WHERE id = ?",
    [worker.id],
  )
  await event(pool, worker, 'stop')
}

async function event(
  pool: Pool,
  worker: WorkerRecord,
  kind: 'start' | 'stop',
  detail: string | null = null,
): Promise<void> {
  await pool.query(
    'INSERT INTO worker_events (worker_id, queue, kind, detail, at) VALUES (?, ?, ?, ?, UTC_TIMESTAMP(3))',
    [worker.id, worker.queue, kind, detail],
  )
}
