import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Pool, PoolConnection } from 'mysql2/promise'
import { isPassing } from '../../drizzle/database'

/** A page as its spider found it at the last visit. */
export interface LastVisit {
  run: number
  /** The run that has its items. */
  contentRun: number
  /** It had been there before, and was not there then. */
  gone: boolean
  title: string | null
  finalUrl: string
  etag: string | null
  lastModified: string | null
  /** The validators have not been seen to stay the same while the page changed. */
  trusted: boolean
  /** Answers "not modified" since the page was last seen whole. */
  streak: number
  /** SHA-1 of the content, of what was taken from it, and of the rules by which that was done; 20 bytes each. */
  digest: Buffer
  extract: Buffer
  rules: Buffer
  /** All its links as they are fetched, in scope or not. */
  links: string[]
  intervalSeconds: number
  dueAt: Date
  visitedAt: Date
}

const COLUMNS =
  'run_id, content_run, gone, title, final_url, etag, last_modified, trusted, streak, digest, extract, rules, links, interval_seconds, due_at, visited_at'

const PAUSE_MS = 1_000

/**
 * How the spider found a page at its last visit, or null for the first.
 * @param signal with it, a database that is away is waited for until the signal aborts: a page that has begun must not be charged for that.
 */
export async function lastVisit(
  pool: Pool,
  spider: number,
  hash: Buffer,
  signal?: AbortSignal,
): Promise<LastVisit | null> {
  for (;;) {
    try {
      return await readVisit(pool, spider, hash)
    } catch (error) {
      if (!signal || signal.aborted || !isPassing(error)) throw error
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  }
}

async function readVisit(pool: Pool, spider: number, hash: Buffer): Promise<LastVisit | null> {
  const [rows] = await pool.query(`SELECT ${COLUMNS} FROM visits WHERE spider_id = ? AND url_hash = ?`, [
    spider,
    hash,
  ])
  const row = (rows as VisitRow[])[0]
  if (!row) return null
  return {
    run: row.run_id,
    contentRun: row.content_run,
    gone: row.gone === 1,
    title: row.title,
    finalUrl: row.final_url,
    etag: row.etag,
    lastModified: row.last_modified,
    trusted: row.trusted === 1,
    streak: row.streak,
    digest: row.digest,
    extract: row.extract,
    rules: row.rules,
    links: row.links ? inflateRawSync(row.links).toString('utf8').split('\n') : [],
    intervalSeconds: row.interval_seconds,
    dueAt: row.due_at,
    visitedAt: row.visited_at,
  }
}

interface VisitRow {
  run_id: number
  content_run: number
  gone: number
  title: string | null
  final_url: string
  etag: string | null
  last_modified: string | null
  trusted: number
  streak: number
  digest: Buffer
  extract: Buffer
  rules: Buffer
  links: Buffer | null
  interval_seconds: number
  due_at: Date
  visited_at: Date
}

/** Stores visits, in the transaction that stores the rows of their pages. */
export async function writeVisits(
  connection: PoolConnection,
  visits: { spider: number; hash: Buffer; visit: LastVisit }[],
): Promise<void> {
  if (visits.length === 0) return
  const values = [...visits]
    .sort((a, b) => a.spider - b.spider || a.hash.compare(b.hash))
    .map(({ spider, hash, visit }) => [
      spider,
      hash,
      visit.run,
      visit.contentRun,
      visit.gone,
      visit.title,
      visit.finalUrl,
      visit.etag,
      visit.lastModified,
      visit.trusted,
      visit.streak,
      visit.digest,
      visit.extract,
      visit.rules,
      visit.links.length > 0 ? deflateRawSync(visit.links.join('\n')) : null,
      visit.intervalSeconds,
      visit.dueAt,
      visit.visitedAt,
    ])
  const updates = COLUMNS.split(', ').map((column) => `${column} = VALUES(${column})`)
  await connection.query(
    `INSERT INTO visits (spider_id, url_hash, ${COLUMNS}) VALUES ? ON DUPLICATE KEY UPDATE ${updates.join(', ')}`,
    [values],
  )
}

const CHUNK = 500

/** Makes pages due that, as a sitemap says, have changed since their last visit. */
export async function callDue(
  pool: Pool,
  spider: number,
  pages: { hash: Buffer; changedAt: Date }[],
): Promise<void> {
  for (let from = 0; from < pages.length; from += CHUNK) {
    const some = pages.slice(from, from + CHUNK)
    const changed = new Map(some.map(({ hash, changedAt }) => [hash.toString('hex'), changedAt]))
    const [rows] = await pool.query(
      'SELECT url_hash, visited_at FROM visits WHERE spider_id = ? AND url_hash IN (?)',
      [spider, some.map(({ hash }) => hash)],
    )
    const due = (rows as { url_hash: Buffer; visited_at: Date }[])
      .filter(({ url_hash, visited_at }) => changed.get(url_hash.toString('hex'))! > visited_at)
      .map(({ url_hash }) => url_hash)
    if (due.length > 0)
      await pool.query(
        'UPDATE visits SET due_at = visited_at WHERE spider_id = ? AND url_hash IN (?) ORDER BY url_hash',
        [spider, due],
      )
  }
}
