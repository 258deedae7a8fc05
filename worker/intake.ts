import { z } from 'zod'
import { sentence } from '../core/errors'
import type { Log } from '../core/log'
import type { Queue } from '../core/queue/queue'
import type { NewTask, Rejected } from '../core/queue/task'
import { DEFAULT_SPIDER } from '../core/spider'
import { hostKey, InvalidUrl, urlHash, urlId, webUrl } from '../core/url'
import type { SpiderRecord } from './sink/inbox'

/**
 * The outside contract: what anyone may push to the inbox, in any language. A plain URL, or this as JSON.
 * Unknown members are refused, so that a misspelt `prioriy` is not silently lost.
 */
const payloadSchema = z.strictObject({
  url: z.string(),
  spider: z.string().default(DEFAULT_SPIDER.name),
  priority: z.number().int().min(-1000).max(1000).default(0),
  depth: z.number().int().min(0).max(10_000).default(0),
  meta: z.unknown().optional(),
})

/** Entries taken in one script call. */
const CHUNK = 500
const LONGEST_ENTRY = 65_536

interface Entry {
  task: NewTask
  spider: string
}

export interface InboxStore {
  findSpider(name: string): Promise<SpiderRecord | null>
  openRun(spider: SpiderRecord, epoch: number): Promise<number>
  goOn(run: number): Promise<void>
  storeSeeds(
    spiderId: number,
    run: number,
    seeds: { url: string; hash: Buffer; priority: number; depth: number; meta: string | null }[],
  ): Promise<void>
}

/**
 * Moves inbox entries into the frontier: record first, then one script that takes exactly the entries that were read, admits the
 * good ones and keeps the bad ones with their reason. When another worker was quicker the script changes nothing, so any number
 * of workers may do this at once.
 *
 * @returns whether anything was taken.
 */
export async function takeIn(queue: Queue, store: InboxStore, epoch: number, log: Log): Promise<boolean> {
  const entries = await queue.peekInbox(CHUNK)
  if (entries.length === 0) return false
  const good = new Map<string, Entry[]>()
  const rejected: Rejected[] = []
  const reject = (entry: string, reason: string) =>
    rejected.push({ entry: entry.slice(0, LONGEST_ENTRY), reason, at: new Date().toISOString() })
  for (const entry of entries) {
    const read = readEntry(entry)
    if (typeof read === 'string') reject(entry, read)
    else good.set(read.spider, [...(good.get(read.spider) ?? []), read])
  }
  const admissions: { run: number; tasks: NewTask[] }[] = []
  for (const [name, list] of good) {
    const spider = await store.findSpider(name)
    if (!spider) {
      for (const { task } of list)
        reject(
          task.url,
          `There is no spider named "${name}"; save it first, or leave the name out for the default one.`,
        )
      continue
    }
    const run = await store.openRun(spider, epoch)
    const { dedupe, identity } = spider.definition
    await queue.openRun(run, {
      dedupe: { ...dedupe, spider: spider.id },
      maxPages: spider.definition.maxPages,
    })
    const tasks = list.map(({ task }) => ({ ...task, id: urlId(task.url, identity) }))
    await store.storeSeeds(
      spider.id,
      run,
      tasks.map((task) => ({
        url: task.url,
        hash: urlHash(task.url),
        priority: task.priority,
        depth: task.depth,
        meta: task.meta ?? null,
      })),
    )
    admissions.push({ run, tasks })
  }
  const taken = await queue.takeInbox(entries, admissions, rejected)
  // The scheduler may have closed a run since we asked for it; with these entries in it, it goes on.
  if (taken) for (const { run } of admissions) await store.goOn(run)
  if (taken)
    log.info(
      { queue: queue.name, taken: entries.length - rejected.length, rejected: rejected.length },
      'Took entries from the inbox',
    )
  return taken
}

/** An inbox entry as a task, or the sentence that says what is wrong with it. */
export function readEntry(entry: string): Entry | string {
  if (entry.length > LONGEST_ENTRY)
    return `The entry has ${entry.length} characters; at most ${LONGEST_ENTRY} are taken.`
  const text = entry.trim()
  let payload: z.output<typeof payloadSchema>
  if (text.startsWith('{')) {
    let raw: unknown
    try {
      raw = JSON.parse(text)
    } catch (error) {
      return `The entry begins like JSON but is not (${sentence(error)}); push a plain URL or an object with url.`
    }
    const parsed = payloadSchema.safeParse(raw)
    if (!parsed.success) {
      const faults = parsed.error.issues.map(
        (issue) => `${issue.path.join('.') || 'entry'}: ${issue.message}`,
      )
      return `The entry is not usable (${faults.join('; ')}); push {"url", "spider"?, "priority"?, "depth"?, "meta"?}.`
    }
    payload = parsed.data
  } else {
    payload = payloadSchema.parse({ url: text })
  }
  try {
    const url = webUrl(payload.url)
    const task: NewTask = {
      url,
      id: urlId(url),
      host: hostKey(url),
      depth: payload.depth,
      priority: payload.priority,
    }
    if (payload.meta !== undefined) task.meta = JSON.stringify(payload.meta)
    return { task, spider: payload.spider }
  } catch (error) {
    if (error instanceof InvalidUrl) return error.message
    throw error
  }
}
