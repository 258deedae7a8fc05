import type { Services } from '../context'
import { select } from '../db'
import type { BatchLimits, SinkRecord } from './sink'

/** A page whose items a sink is still to be given. */
export interface WaitingPage {
  id: number
  version: number
  tries: number
  runId: number
  urlHash: Buffer
}

/** The pages that are next, the first of them always; none while they may still wait for more. */
export async function nextBatch(s: Services, sink: string, limits: BatchLimits): Promise<WaitingPage[]> {
  const waiting = await select<WaitingPage & { age: number }>(
    s.database.pool,
    `SELECT id, version, tries, run_id AS runId, url_hash AS urlHash, TIMESTAMPDIFF(SECOND, created_at, UTC_TIMESTAMP(3)) AS age
       FROM sink_outbox WHERE sink = ? AND state = 'waiting' ORDER BY id LIMIT ?`,
    [sink, limits.pages],
  )
  if (waiting.length === 0) return []
  const sizes = await select<{ id: number; items: number; bytes: number }>(
    s.database.pool,
    `SELECT o.id, COUNT(*) AS items, CAST(SUM(LENGTH(i.data)) AS SIGNED) AS bytes FROM sink_outbox o
       JOIN items i ON i.run_id = o.run_id AND i.url_hash = o.url_hash WHERE o.id IN (?) GROUP BY o.id`,
    [waiting.map(({ id }) => id)],
  )
  const sizeOf = new Map(sizes.map((size) => [size.id, size]))
  // What a process before this one failed at goes in ever smaller batches, too.
  const most = Math.max(1, limits.pages >> waiting[0]!.tries)
  let items = 0
  let bytes = 0
  const batch = waiting.filter(({ id }, n) => {
    items += sizeOf.get(id)?.items ?? 0
    bytes += sizeOf.get(id)?.bytes ?? 0
    return n === 0 || (n < most && items <= limits.items && bytes <= limits.bytes)
  })
  const full = batch.length < waiting.length || waiting.length === limits.pages
  return full || waiting[0]!.age >= limits.seconds ? batch : []
}

interface ItemRow {
  runId: number
  urlHash: Buffer
  n: number
  name: string
  data: string
  url: string
  fetchedAt: Date
  spider: string
}

/** The items of these pages as they are stored now; a page whose items are gone has none. */
export async function recordsOf(s: Services, batch: WaitingPage[]): Promise<SinkRecord[]> {
  const rows = await select<ItemRow>(
    s.database.pool,
    `SELECT i.run_id AS runId, i.url_hash AS urlHash, i.n, i.name, i.data, p.url, p.fetched_at AS fetchedAt, d.name AS spider
       FROM sink_outbox o JOIN items i ON i.run_id = o.run_id AND i.url_hash = o.url_hash
       JOIN pages p ON p.run_id = i.run_id AND p.url_hash = i.url_hash
       JOIN runs r ON r.id = i.run_id JOIN spiders d ON d.id = r.spider_id
       WHERE o.id IN (?)`,
    [batch.map(({ id }) => id)],
  )
  const place = new Map(batch.map((page, n) => [pageId(page), n]))
  return rows
    .sort((a, b) => place.get(pageId(a))! - place.get(pageId(b))! || a.n - b.n)
    .map((row) => ({
      id: `${pageId(row)}-${row.n}`,
      spider: row.spider,
      run: row.runId,
      url: row.url,
      fetchedAt: row.fetchedAt.toISOString(),
      name: row.name,
      data: JSON.parse(row.data) as Record<string, unknown>,
    }))
}

/** 128 bits of the URL's hash tell the pages of a run apart. */
export const pageId = ({ runId, urlHash }: { runId: number; urlHash: Buffer }) =>
  `${runId}-${urlHash.toString('hex', 0, 16)}`
