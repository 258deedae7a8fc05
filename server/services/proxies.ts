import dns from 'node:dns'
import { and, asc, eq } from 'drizzle-orm'
import { env } from '../../core/env'
import { sentence, UserError } from '../../core/errors'
import { type ProxyAddress, proxyPlace, readProxy, shownProxy } from '../../core/proxy-address'
import { openTunnel } from '../../core/proxy-connector'
import { FRESH, forgetProxy, readProxyHealth } from '../../core/queue/proxy-health'
import { seal } from '../../core/seal'
import { inTransaction } from '../../drizzle/database'
import { proxies } from '../../drizzle/schema/crawl'
import type { Services } from '../context'
import { change } from '../db'
import { type Actor, recordChange } from './audit-log'
import { getQueue } from './queues'

export const MOST_AT_ONCE = 100
const AT_ONCE = 10

/** A proxy of a queue without what is secret, and how it does. */
export interface ProxyView {
  id: number
  shown: string
  author: string
  /** 0 … 1. */
  score: number
  /** ms since 1970; null while it does not rest. */
  restsUntil: number | null
  uses: number
}

export async function listProxies(s: Services, queue: string): Promise<ProxyView[]> {
  await getQueue(s, queue)
  const [rows, health] = await Promise.all([
    s.database.orm.select().from(proxies).where(eq(proxies.queue, queue)).orderBy(asc(proxies.id)),
    readProxyHealth(s.queue(queue)),
  ])
  const now = Date.now()
  return rows.map(({ id, shown, author }) => {
    const { score, restsUntil, uses } = health.get(id) ?? FRESH
    return { id, shown, author, score, uses, restsUntil: restsUntil > now ? restsUntil : null }
  })
}

/**
 * Tries each of the proxies, and takes those that serve. From then on, within seconds, all fetches of the queue go through its
 * proxies. One that is there already gets the user and password given now.
 * @param lines one proxy each, such as `socks5://user:password@proxy.example:1080`.
 * @returns how many were taken, and those that were not, by their line, with the reason.
 */
export async function addProxies(
  s: Services,
  queue: string,
  lines: string[],
  actor: Actor,
): Promise<{ added: number; refused: { line: number; reason: string }[] }> {
  await getQueue(s, queue)
  const refused: { line: number; reason: string }[] = []
  const good: ProxyAddress[] = []
  const target = await testTarget()
  for (let from = 0; from < lines.length; from += AT_ONCE)
    await Promise.all(
      lines.slice(from, from + AT_ONCE).map(async (text, at) => {
        try {
          const proxy = readProxy(text)
          const socket = await openTunnel(proxy, target, env().CONNECT_TIMEOUT * 1000)
          socket.destroy()
          good.push(proxy)
        } catch (error) {
          refused.push({ line: from + at + 1, reason: sentence(error) })
        }
      }),
    )
  await inTransaction(s.database.pool, async (connection) => {
    for (const proxy of good) {
      const shown = shownProxy(proxy)
      await change(
        connection,
        'INSERT INTO proxies (queue, shown, sealed, author, created_at) VALUES (?, ?, ?, ?, UTC_TIMESTAMP(3)) ON DUPLICATE KEY UPDATE sealed = VALUES(sealed), author = VALUES(author)',
        [queue, shown, seal('proxies', proxy, proxyPlace(queue, shown)), actor.slice(0, 191)],
      )
    }
    if (good.length > 0)
      await recordChange(connection, actor, 'queue.proxies.add', queue, { proxies: good.map(shownProxy) })
  })
  return { added: good.length, refused: refused.sort((a, b) => a.line - b.line) }
}

/** From now on, within seconds, nothing goes through it. With the last one gone, fetches go directly. Repeats change nothing. */
export async function removeProxy(s: Services, queue: string, id: number, actor: Actor): Promise<void> {
  const [row] = await s.database.orm
    .select({ shown: proxies.shown })
    .from(proxies)
    .where(and(eq(proxies.queue, queue), eq(proxies.id, id)))
  if (!row) return
  await inTransaction(s.database.pool, async (connection) => {
    await change(connection, 'DELETE FROM proxies WHERE id = ?', [id])
    await recordChange(connection, actor, 'queue.proxies.remove', queue, { proxy: row.shown })
  })
  await forgetProxy(s.queue(queue), id)
}

/** Where a new proxy has to lead to. @throws UserError when its name has no address here. */
async function testTarget(): Promise<{ address: string; port: number }> {
  const { hostname, port, protocol } = new URL(env().PROXY_TEST_URL)
  try {
    const { address } = await dns.promises.lookup(hostname, { family: 4 })
    return { address, port: Number(port) || (protocol === 'https:' ? 443 : 80) }
  } catch (cause) {
    throw new UserError(
      `Proxies are tried by leading to ${hostname} (PROXY_TEST_URL), whose name cannot be resolved here; set one that can.`,
      undefined,
      { cause },
    )
  }
}
