import { type InboxEntry, LONGEST_ENTRY, readEntry } from '../core/inbox-entry'
import type { Log } from '../core/log'
import type { Queue } from '../core/queue/queue'
import type { NewTask, Rejected } from '../core/queue/task'
import { urlHash, urlId } from '../core/url'
import type { SpiderRecord } from './sink/inbox'

/** Entries taken in one script call. */
const CHUNK = 500

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
  const good = new Map<string, InboxEntry[]>()
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
      maxPagesPerHost: spider.definition.maxPagesPerHost ?? null,
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
