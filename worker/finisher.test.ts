import pino from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { frontierKeys } from '../core/queue/keys'
import type { Queue } from '../core/queue/queue'
import { claim, EXACT, freshQueue, task, tasks } from '../core/queue/queue-fixture'
import { urlHash } from '../core/url'
import { type Database, openDatabase } from '../drizzle/database'
import { freshDatabase } from '../tests/services'
import { Finisher } from './finisher'
import { KnownLinks } from './known-links'
import { LeaseKeeper } from './lease-keeper'
import { type PageRecord, storedPage, storePages } from './sink/pages'

let site: { url: string; drop(): Promise<void> }
let database: Database
let queue: Queue
beforeAll(async () => {
  site = await freshDatabase()
  database = openDatabase(site.url, 2)
  queue = await freshQueue()
  await queue.openRun(1, { dedupe: EXACT, maxPages: null })
})
afterAll(async () => {
  await queue.redis.unlink(...frontierKeys(queue.name))
  queue.redis.disconnect()
  await database.close()
  await site.drop()
})

/** Finishes one page whose first tries at the database go to `addresses`, one after the other; then to the real one. */
async function finish(path: string, addresses: string[]) {
  await queue.admit(1, [task(path)])
  const [lease] = await claim(queue, 1, 30_000, 60_000)
  await queue.begin([lease!])
  const keeper = new LeaseKeeper(queue, 30_000, log)
  keeper.hold(lease!)
  const finisher = new Finisher({
    queue,
    store: async (records) => {
      const address = addresses.shift()
      if (address === undefined) return storePages(database.pool, records)
      const away = openDatabase(address, 1)
      return storePages(away.pool, records).finally(() => away.close())
    },
    keeper,
    known: new KnownLinks(),
    log,
    settled: () => {},
  })
  const record: PageRecord = {
    run: 1,
    hash: urlHash(lease!.url),
    url: lease!.url,
    finalUrl: lease!.url,
    state: 'done',
    reason: null,
    detail: null,
    status: 200,
    title: path,
    depth: 0,
    referrer: null,
    contentType: 'text/html',
    charset: 'utf-8',
    flags: null,
    bytes: 1,
    ms: 1,
    attempts: 1,
    deliveries: 1,
    items: [],
    links: null,
    digest: null,
    warc: null,
    archive: null,
    contentRun: null,
    visit: null,
    fetchedAt: new Date(),
    token: lease!.token,
  }
  finisher.push({ lease: lease!, state: 'done', reason: null, record, links: tasks(3, {}, path.length * 10) })
  await finisher.drained()
  return { stored: await storedPage(database.pool, 1, record.hash), counts: await queue.counts(1) }
}
const log = pino({ level: 'silent' })

test('a page waits for a database whose name does not resolve for a while, and is stored and acknowledged with its links', async () => {
  const { stored, counts } = await finish('a', [
    'mysql://me@database.invalid/none',
    'mysql://me@127.0.0.1:1/none',
  ])
  expect(stored).toMatchObject({ state: 'done', reason: null })
  expect(counts).toMatchObject({ admitted: 4, done: 1, failed: 0 })
})

test('of a page that the database refuses, row and count say the same, whatever it answers to the next try', async () => {
  const before = await queue.counts(1)
  const narrow = await freshDatabase()
  const other = openDatabase(narrow.url, 1)
  await other.pool.query('ALTER TABLE pages MODIFY title VARCHAR(1)')
  await other.close()
  // One refuses, then nobody answers, then one that would have taken the page as it was.
  const { stored, counts } = await finish('bb', [narrow.url, 'mysql://me@127.0.0.1:1/none'])
  await narrow.drop()
  expect(stored).toMatchObject({ state: 'failed', reason: 'unstorable', links: [] })
  expect(counts).toMatchObject({
    admitted: before.admitted + 1,
    done: before.done,
    failed: before.failed + 1,
  })
})
