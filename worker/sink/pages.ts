import type { Pool, PoolConnection } from 'mysql2/promise'
import { sentence } from '../../core/errors'
import type { OutcomeState } from '../../core/queue/states'
import { type StoredLink, unpackLinks } from '../../core/stored-links'
import { inTransaction, isPassing } from '../../drizzle/database'
import type { Reason } from '../outcome'
import type { PreviousPage } from '../warc/keep-page'
import type { PageRecords } from '../warc/page-records'
import type { WarcLocation } from '../warc/warc-files'
import { type LastVisit, writeVisits } from './visits'

/** Deadlocks are rare with sorted batches but not impossible (the index by state moves rows); each try is the whole transaction. */
const TRIES = 10

/** The outcome of one URL, ready to store. */
export interface PageRecord {
  run: number
  /** SHA-256 of the canonical URL, 32 bytes. */
  hash: Buffer
  url: string
  finalUrl: string | null
  state: OutcomeState
  reason: Reason | null
  detail: string | null
  status: number | null
  title: string | null
  depth: number
  referrer: string | null
  contentType: string | null
  charset: string | null
  /** Words of `worker/read-document.ts`, joined by commas; null for none. */
  flags: string | null
  bytes: number | null
  ms: number | null
  attempts: number
  deliveries: number
  items: { name: string; data: Record<string, unknown> }[]
  /** Sinks that the items go to. */
  sinks?: readonly string[]
  /** As `packLinks` has them. */
  links: Buffer | null
  /** SHA-1 of the content, 20 bytes. */
  digest: Buffer | null
  /** The page was not read this time: the run that has its items. */
  contentRun: number | null
  /** Where the content is kept. */
  warc: WarcLocation | null
  /** To be written to a WARC file before the row is stored; no column. */
  archive: PageRecords | null
  /** What the spider is to remember of the page; null for spiders that do not revisit, and for pages that say nothing new. */
  visit: { spider: number; visit: LastVisit } | null
  token: string
  fetchedAt: Date
}

const COLUMNS = [
  'run_id',
  'url_hash',
  'url',
  'final_url',
  'state',
  'reason',
  'detail',
  'status',
  'title',
  'depth',
  'referrer',
  'content_type',
  'charset',
  'flags',
  'bytes',
  'ms',
  'attempts',
  'deliveries',
  'items',
  'links',
  'digest',
  'content_run',
  'warc_file',
  'warc_offset',
  'warc_length',
  'fetched_at',
  'token',
] as const // prettier-ignore

// `token` is assigned last: assignments run from left to right, and each of the others compares with the old token.
const FENCED = COLUMNS.filter((column) => column !== 'run_id' && column !== 'url_hash')
  .map((column) =>
    column === 'token'
      ? 'token = GREATEST(token, VALUES(token))'
      : `${column} = IF(VALUES(token) >= token, VALUES(${column}), ${column})`,
  )
  .join(', ')
const UPSERT = `INSERT INTO pages (${COLUMNS.join(', ')}) VALUES ? ON DUPLICATE KEY UPDATE ${FENCED}`

/**
 * Stores outcomes in one transaction: the row with the highest fencing token wins, and only its items are kept. Sorted by key,
 * so that two workers lock rows in the same order and do not deadlock. Safe to repeat.
 *
 * @returns for each record null when it is stored (or a newer one already was), or why it cannot be stored at all: what the
 * database refuses for its content fails alone, not with its batch.
 * @throws the driver's error when the database is away or too busy; then nothing of the batch may be acknowledged.
 */
export async function storePages(pool: Pool, records: PageRecord[]): Promise<(string | null)[]> {
  const sorted = [...records].sort((a, b) => a.run - b.run || a.hash.compare(b.hash))
  try {
    await inTransaction(pool, (connection) => writeBatch(connection, sorted), TRIES)
    return records.map(() => null)
  } catch (error) {
    if (isPassing(error)) throw error
    if (records.length === 1) return [sentence(error)]
  }
  const verdicts: (string | null)[] = []
  for (const record of records) verdicts.push(...(await storePages(pool, [record])))
  return verdicts
}

async function writeBatch(connection: PoolConnection, records: PageRecord[]): Promise<void> {
  await connection.query(UPSERT, [records.map(pageValues)])
  const withItems = records.filter(
    (record) => record.items.length > 0 || record.deliveries > 1 || record.visit !== null,
  )
  if (withItems.length === 0) return
  const [rows] = await connection.query(
    'SELECT run_id, url_hash, token FROM pages WHERE (run_id, url_hash) IN (?) FOR UPDATE',
    [withItems.map((record) => [record.run, record.hash])],
  )
  const newest = new Map((rows as KeyedToken[]).map((row) => [keyText(row.run_id, row.url_hash), row.token]))
  const winners = withItems.filter((record) => newest.get(keyText(record.run, record.hash)) === record.token)
  await writeVisits(
    connection,
    winners.flatMap(({ hash, visit }) => (visit ? [{ hash, ...visit }] : [])),
  )
  // Only a page that was begun before can have left items behind.
  const replaced = winners
    .filter((record) => record.deliveries > 1)
    .map((record) => [record.run, record.hash])
  if (replaced.length > 0)
    await connection.query('DELETE FROM items WHERE (run_id, url_hash) IN (?)', [replaced])
  const values = winners.flatMap((record) =>
    record.items.map((item, n) => [
      record.run,
      record.hash,
      n,
      item.name,
      JSON.stringify(item.data),
      record.fetchedAt,
    ]),
  )
  for (let from = 0; from < values.length; from += 500) {
    await connection.query(
      'INSERT INTO items (run_id, url_hash, n, name, data, created_at) VALUES ? ON DUPLICATE KEY UPDATE name = VALUES(name), data = VALUES(data)',
      [values.slice(from, from + 500)],
    )
  }
  await handOn(connection, winners)
}

/** In the same transaction, so that what is stored is given to its sinks whoever ends next; see server/sinks/. */
async function handOn(connection: PoolConnection, records: PageRecord[]): Promise<void> {
  const rows = records.flatMap(({ run, hash, items, sinks = [], fetchedAt }) =>
    items.length === 0 ? [] : [...new Set(sinks)].map((sink) => [sink, run, hash, fetchedAt]),
  )
  if (rows.length === 0) return
  await connection.query(
    "INSERT INTO sink_outbox (sink, run_id, url_hash, created_at) VALUES ? ON DUPLICATE KEY UPDATE version = version + 1, state = 'waiting', detail = NULL, tries = 0",
    [rows],
  )
}

interface KeyedToken {
  run_id: number
  url_hash: Buffer
  token: string
}

const keyText = (run: number, hash: Buffer) => `${run}/${hash.toString('base64')}`

function pageValues(record: PageRecord): unknown[] {
  return [
    record.run,
    record.hash,
    record.url,
    record.finalUrl,
    record.state,
    record.reason,
    record.detail,
    record.status,
    record.title,
    record.depth,
    record.referrer,
    record.contentType,
    record.charset,
    record.flags,
    record.bytes,
    record.ms,
    record.attempts,
    record.deliveries,
    record.items.length,
    record.links,
    record.digest,
    record.contentRun,
    record.warc?.file ?? null,
    record.warc?.offset ?? null,
    record.warc?.length ?? null,
    record.fetchedAt,
    record.token,
  ] // prettier-ignore
}

export interface StoredPage {
  state: OutcomeState
  reason: Reason | null
  /** The links that the page offered when it was stored. */
  links: StoredLink[]
}

/** The stored outcome of a URL with the links it offered, or null. */
export async function storedPage(pool: Pool, run: number, hash: Buffer): Promise<StoredPage | null> {
  const [rows] = await pool.query(
    'SELECT state, reason, links FROM pages WHERE run_id = ? AND url_hash = ?',
    [run, hash],
  )
  const row = (rows as { state: OutcomeState; reason: Reason | null; links: Buffer | null }[])[0]
  if (!row) return null
  return {
    state: row.state,
    reason: row.reason,
    links: unpackLinks(row.links),
  }
}

/** What a run has of a URL, for the run of the same spider that follows it; null when it never fetched it. */
export async function previousPage(pool: Pool, run: number, hash: Buffer): Promise<PreviousPage | null> {
  const [rows] = await pool.query(
    'SELECT digest, final_url, fetched_at, warc_file, warc_offset, warc_length FROM pages WHERE run_id = ? AND url_hash = ?',
    [run, hash],
  )
  const row = (rows as PreviousRow[])[0]
  if (!row) return null
  const { digest, final_url: finalUrl, fetched_at: fetchedAt, warc_file: file } = row
  const warc =
    file === null ? null : { file, offset: Number(row.warc_offset), length: Number(row.warc_length) }
  return { digest, finalUrl, fetchedAt, warc }
}

interface PreviousRow {
  digest: Buffer | null
  final_url: string | null
  fetched_at: Date
  warc_file: string | null
  warc_offset: number | null
  warc_length: number | null
}
