import { inArray } from 'drizzle-orm'
import { type InboxEntry, readEntry } from '../../core/inbox-entry'
import { DEFAULT_SPIDER } from '../../core/spider'
import { inTransaction } from '../../drizzle/database'
import { spiders } from '../../drizzle/schema/crawl'
import type { Services } from '../context'
import { type Actor, recordChange } from './audit-log'
import { getQueue } from './queues'

/** A URL with what may stand beside it in an inbox. */
export interface EnqueueEntry {
  url: string
  /** Name of the spider; absent: the built-in one. */
  spider?: string | undefined
  priority?: number | undefined
  depth?: number | undefined
  meta?: unknown
}

export interface EnqueueVerdict {
  /** As it was given. */
  url: string
  /** `repeated`: it stands earlier in the same call, for the same spider. */
  verdict: 'queued' | 'repeated' | 'refused'
  reason: string | null
}

/** Entries that one command of Redis carries. */
const CHUNK = 1000

/**
 * Pushes URLs to a queue's inbox, all in one step, after reading each as a worker will: what a worker would reject is told here,
 * and never sent. Whether a run knows a URL already is decided when a worker takes it in.
 * @returns a verdict for each entry, in their order.
 * @throws UserError for an unknown queue, Unavailable when Redis takes none of them.
 */
export async function enqueueChecked(
  s: Services,
  queue: string,
  entries: readonly (string | EnqueueEntry)[],
  actor: Actor,
): Promise<{ queued: number; verdicts: EnqueueVerdict[] }> {
  await getQueue(s, queue)
  const texts = entries.map((entry) => (typeof entry === 'string' ? plain(entry) : JSON.stringify(entry)))
  const read = texts.map(readEntry)
  const known = await knownSpiders(s, read)
  const seen = new Set<string>()
  const good: string[] = []
  const verdicts = read.map((one, at): EnqueueVerdict => {
    const entry = entries[at]!
    const url = typeof entry === 'string' ? entry : entry.url
    if (typeof one === 'string') return { url, verdict: 'refused', reason: one }
    if (!known.has(one.spider)) {
      const reason = `There is no spider named "${one.spider}"; save it first, or leave the name out for the default one.`
      return { url, verdict: 'refused', reason }
    }
    const key = `${one.task.url}\n${one.spider}`
    if (seen.has(key)) return { url, verdict: 'repeated', reason: null }
    seen.add(key)
    good.push(texts[at]!)
    return { url, verdict: 'queued', reason: null }
  })
  await push(s, queue, good)
  if (good.length > 0)
    await inTransaction(s.database.pool, (connection) =>
      recordChange(connection, actor, 'queue.enqueue', queue, { urls: good.length }),
    )
  return { queued: good.length, verdicts }
}

/** What is meant as a URL must not be read as an entry of JSON, nor as two. */
const plain = (url: string) => (/^\s*\{|[\r\n]/.test(url) ? JSON.stringify({ url }) : url.trim())

async function knownSpiders(s: Services, read: (InboxEntry | string)[]): Promise<Set<string>> {
  const { name: builtIn } = DEFAULT_SPIDER
  const named = [...new Set(read.flatMap((one) => (typeof one === 'string' ? [] : [one.spider])))]
  if (named.every((name) => name === builtIn)) return new Set(named)
  const rows = await s.database.orm
    .select({ name: spiders.name })
    .from(spiders)
    .where(inArray(spiders.name, named))
  return new Set([builtIn, ...rows.map(({ name }) => name)])
}

/** All or nothing, so that a call that failed can be repeated as it is. */
async function push(s: Services, queue: string, entries: string[]): Promise<void> {
  if (entries.length === 0) return
  const all = s.redis.multi()
  for (let from = 0; from < entries.length; from += CHUNK)
    all.rpush(queue, ...entries.slice(from, from + CHUNK))
  const replies = await all.exec()
  const failed = replies?.find(([error]) => error)?.[0]
  if (failed) throw failed
}
