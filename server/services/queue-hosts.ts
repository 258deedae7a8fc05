import { and, desc, eq, inArray } from 'drizzle-orm'
import { z } from 'zod'
import { sentence, Unavailable, UserError } from '../../core/errors'
import { type HostView, listHosts } from '../../core/queue/hosts'
import { tryCanonicalise, hostKey as urlHost } from '../../core/url'
import { inTransaction } from '../../drizzle/database'
import { hostDelays, runs } from '../../drizzle/schema/crawl'
import { pages } from '../../drizzle/schema/pages'
import type { Services } from '../context'
import { change } from '../db'
import { type Actor, recordChange } from './audit-log'
import { getQueue } from './queues'

/** Why a host failed last, of those failures that are at hand. */
export interface LastError {
  reason: string
  status: number | null
  detail: string | null
  /** ms since 1970. */
  at: number
}

const LONGEST_MS = 86_400_000
const delay = z.number().int().min(0).max(LONGEST_MS).nullable()

/** Hosts of a queue with work, by name, a page at a time, each with its last error where that is known. */
export async function viewHosts(
  s: Services,
  queue: string,
  page: { after?: string; prefix?: string; limit: number },
): Promise<{ hosts: (HostView & { lastError: LastError | null })[]; next: string | null }> {
  await getQueue(s, queue)
  const { hosts, next } = await listHosts(s.queue(queue), page)
  const errors = hosts.length > 0 ? await lastErrors(s, queue) : new Map<string, LastError>()
  return { hosts: hosts.map((host) => ({ ...host, lastError: errors.get(host.host) ?? null })), next }
}

/**
 * Gives a host a delay of its own, in force at once instead of the queue's, over all workers; null takes it back. What robots.txt
 * or the host itself asks for is kept all the same.
 * @param delayMs milliseconds between two fetch starts, 0 to a day.
 * @throws UserError for an unknown queue, a host that is none, or a delay out of range.
 */
export async function setHostDelay(
  s: Services,
  queue: string,
  host: string,
  delayMs: number | null,
  actor: Actor,
): Promise<void> {
  if (!delay.safeParse(delayMs).success)
    throw new UserError(`The delay of ${host} is not usable; it takes 0 to ${LONGEST_MS} ms.`)
  const url = tryCanonicalise(`http://${host}/`)
  const secure = tryCanonicalise(`https://${host}/`)
  if (!url || !secure || ![urlHost(url), urlHost(secure)].includes(host))
    throw new UserError(`"${host}" is not a host as queues know it; write one such as example.com.`, {
      code: 'host_malformed',
      values: { host },
    })
  await getQueue(s, queue)
  await inTransaction(s.database.pool, async (connection) => {
    if (delayMs === null)
      await change(connection, 'DELETE FROM host_delays WHERE queue = ? AND host = ?', [queue, host])
    else
      await change(
        connection,
        'INSERT INTO host_delays (queue, host, delay_ms, author, updated_at) VALUES (?, ?, ?, ?, UTC_TIMESTAMP(3)) ON DUPLICATE KEY UPDATE delay_ms = VALUES(delay_ms), author = VALUES(author), updated_at = VALUES(updated_at)',
        [queue, host, delayMs, actor.slice(0, 191)],
      )
    await recordChange(connection, actor, 'queue.host-delay', `${queue} ${host}`, { delayMs })
  })
  await s
    .queue(queue)
    .setHostRate(host, delayMs)
    .catch((error: unknown) => {
      if (!(error instanceof Unavailable) || delayMs === null) throw error
      s.log.warn(
        { queue, host, cause: sentence(error) },
        'the delay is on record; the scheduler brings it to Redis',
      )
    })
}

/** Gives Redis its copy of the delays of a queue's hosts. Repeats change nothing. */
export async function pushHostDelays(s: Services, queue: string): Promise<void> {
  const rows = await s.database.orm.select().from(hostDelays).where(eq(hostDelays.queue, queue))
  for (const { host, delayMs } of rows) await s.queue(queue).setHostRate(host, delayMs)
}

/** Runs and failures looked at: what the index gives at once, whatever the size of the record. */
const RUNS = 5
const FAILURES = 200

async function lastErrors(s: Services, queue: string): Promise<Map<string, LastError>> {
  const newest = await s.database.orm
    .select({ id: runs.id })
    .from(runs)
    .where(and(eq(runs.queue, queue), inArray(runs.state, ['running', 'finished'])))
    .orderBy(desc(runs.id))
    .limit(RUNS)
  const found = await Promise.all(
    newest.map(({ id }) =>
      s.database.orm
        .select({
          url: pages.url,
          reason: pages.reason,
          status: pages.status,
          detail: pages.detail,
          at: pages.fetchedAt,
        })
        .from(pages)
        .where(and(eq(pages.runId, id), eq(pages.state, 'failed')))
        .orderBy(desc(pages.fetchedAt))
        .limit(FAILURES),
    ),
  )
  const errors = new Map<string, LastError>()
  for (const { url, reason, status, detail, at } of found.flat()) {
    const host = urlHost(url)
    const known = errors.get(host)
    if (reason && (!known || known.at < at.getTime()))
      errors.set(host, { reason, status, detail, at: at.getTime() })
  }
  return errors
}
