import { env } from '../../core/env'
import type { Services } from '../context'
import { select } from '../db'
import { holdQueue, listQueues, releaseQueue } from '../services/queues'
import { oneByOne } from './one-by-one'

/**
 * Keeps what waits for sinks from filling the disk: from SINK_WAITING_PAGES on (refused pages count, for they stay until somebody
 * looks), the queues that still bring such a sink more are paused, until half of that is left. A person who resumes one is overruled
 * for as long; who pauses one, or sets it draining, keeps it so.
 */
export async function holdForSinks(s: Services, still: () => boolean): Promise<void> {
  const queues = await listQueues(s)
  const most = env().SINK_WAITING_PAGES
  const full = await sinksWith(s, most)
  const feeding = full.length > 0 ? await feedersOf(s, full) : new Map<string, string>()
  const toHold = queues.filter(({ name, paused }) => !paused && feeding.has(name))
  await oneByOne(
    s,
    toHold,
    still,
    ({ name }) => ({ queue: name }),
    async ({ name }) => {
      const sink = feeding.get(name)!
      await holdQueue(s, name, sink)
      s.log.warn(
        { queue: name, sink, most },
        'too many pages wait for a sink; the queue is paused until half are given',
      )
    },
  )
  const held = queues.filter(({ heldBy }) => heldBy !== null)
  if (held.length === 0) return
  const loaded = await sinksWith(s, Math.max(1, Math.floor(most / 2)))
  const free = held.filter(({ name, heldBy }) => !loaded.includes(heldBy!) && !feeding.has(name))
  await oneByOne(
    s,
    free,
    still,
    ({ name }) => ({ queue: name }),
    async ({ name, heldBy }) => {
      await releaseQueue(s, name, heldBy!)
      s.log.info({ queue: name, sink: heldBy }, 'the sink has caught up; the queue goes on')
    },
  )
}

/** Sinks with as many pages in the outbox. The ids at both ends, which the index has at hand, tell of most that they have fewer. */
async function sinksWith(s: Services, pages: number): Promise<string[]> {
  const spans = await select<{ sink: string; most: number }>(
    s.database.pool,
    `SELECT sink, CAST(SUM(last - first + 1) AS SIGNED) AS most
       FROM (SELECT sink, state, MIN(id) AS first, MAX(id) AS last FROM sink_outbox GROUP BY sink, state) ends GROUP BY sink`,
  )
  const found: string[] = []
  for (const { sink, most } of spans) {
    if (most < pages) continue
    const rows = await select<{ n: number }>(
      s.database.pool,
      'SELECT COUNT(*) AS n FROM sink_outbox FORCE INDEX (sink_outbox_next) WHERE sink = ?',
      [sink],
    )
    if (rows[0]!.n >= pages) found.push(sink)
  }
  return found
}

/** Queues with runs that are under way and go to one of these sinks, and to which. */
async function feedersOf(s: Services, sinks: string[]): Promise<Map<string, string>> {
  const rows = await select<{ queue: string; sinks: string }>(
    s.database.pool,
    `SELECT DISTINCT queue, JSON_EXTRACT(definition, '$.sinks') AS sinks FROM runs
       WHERE state IN ('preparing', 'seeding', 'running') AND JSON_EXTRACT(definition, '$.sinks') IS NOT NULL`,
  )
  const feeders = new Map<string, string>()
  for (const row of rows) {
    const own = (typeof row.sinks === 'string' ? JSON.parse(row.sinks) : row.sinks) as string[]
    const sink = sinks.find((name) => own.includes(name))
    if (sink !== undefined && !feeders.has(row.queue)) feeders.set(row.queue, sink)
  }
  return feeders
}
