import { and, eq } from 'drizzle-orm'
import { readStanding } from '../../core/queue/hosts'
import { tryWebUrl, urlHash, urlId } from '../../core/url'
import { pages } from '../../drizzle/schema/pages'
import type { Services } from '../context'
import { select } from '../db'
import type { PageView } from './page-list'
import { getRun } from './runs'
import { type Why, whyWaiting } from './why'

/** A page that ended, as far as it is on record. */
export interface PageRecordView extends Omit<PageView, 'items'> {
  run: number
  queue: string
  finalUrl: string | null
  host: string | null
  contentType: string | null
  charset: string | null
  flags: string | null
  deliveries: number
  /** The run that has its items, where this one did not read it. */
  contentRun: number | null
  /** Where its content is kept, if it is. */
  warc: { file: string; offset: number; length: number } | null
  /** It was asked to be tried again and has not ended since: the rest tells of the time before. */
  again: boolean
  why: Why
  /** The first of them. */
  items: { n: number; name: string; data: Record<string, unknown> }[]
  itemCount: number
  /** The page that linked to it first, the page that linked to that one, and so on to a seed. */
  referrers: { url: string; hash: string | null; title: string | null; depth: number | null }[]
}

const ITEMS_SHOWN = 20
/** A trap leads deep; nobody reads further than this. */
const REFERRERS_SHOWN = 30

/**
 * One page of a run, or null when none of that hash has ended in it.
 * @throws UserError for an unknown run.
 */
export async function readPage(s: Services, run: number, hash: string): Promise<PageRecordView | null> {
  const { queue, definition } = await getRun(s, run)
  const key = Buffer.from(hash, 'hex')
  const [row] = await s.database.orm
    .select()
    .from(pages)
    .where(and(eq(pages.runId, run), eq(pages.urlHash, key)))
  if (!row) return null
  const [standing, why, items, referrers] = await Promise.all([
    readStanding(s.queue(queue), run, urlId(row.url, definition.identity)),
    whyWaiting(s, { queue, url: row.url, run }),
    itemsOf(s, run, key),
    referrersOf(s, run, row.referrer, (url) => urlHash(url, definition.identity)),
  ])
  const { warcFile, warcOffset, warcLength } = row
  return {
    run,
    queue,
    hash,
    url: row.url,
    finalUrl: row.finalUrl,
    host: row.host,
    state: row.state,
    reason: row.reason,
    detail: row.detail,
    status: row.status,
    title: row.title,
    depth: row.depth,
    contentType: row.contentType,
    charset: row.charset,
    flags: row.flags,
    bytes: row.bytes,
    ms: row.ms,
    attempts: row.attempts,
    deliveries: row.deliveries,
    fetchedAt: row.fetchedAt.getTime(),
    contentRun: row.contentRun,
    warc:
      warcFile === null || warcOffset === null || warcLength === null
        ? null
        : { file: warcFile, offset: warcOffset, length: warcLength },
    again: standing !== null && standing.state !== 'failed',
    why,
    items,
    itemCount: row.items,
    referrers,
  }
}

async function itemsOf(s: Services, run: number, key: Buffer): Promise<PageRecordView['items']> {
  const rows = await select<{ n: number; name: string; data: string }>(
    s.database.pool,
    'SELECT n, name, data FROM items WHERE run_id = ? AND url_hash = ? ORDER BY n LIMIT ?',
    [run, key, ITEMS_SHOWN],
  )
  return rows.map(({ data, ...row }) => ({ ...row, data: JSON.parse(data) as Record<string, unknown> }))
}

async function referrersOf(
  s: Services,
  run: number,
  first: string | null,
  hashOf: (url: string) => Buffer,
): Promise<PageRecordView['referrers']> {
  const chain: PageRecordView['referrers'] = []
  const seen = new Set<string>()
  for (let url = first; url !== null && chain.length < REFERRERS_SHOWN && !seen.has(url); ) {
    seen.add(url)
    const web = tryWebUrl(url)
    const key = web === null ? null : hashOf(web)
    const [row] = key
      ? await select<{ title: string | null; depth: number; referrer: string | null }>(
          s.database.pool,
          'SELECT title, depth, referrer FROM pages WHERE run_id = ? AND url_hash = ?',
          [run, key],
        )
      : []
    chain.push({
      url,
      hash: row && key ? key.toString('hex') : null,
      title: row?.title ?? null,
      depth: row?.depth ?? null,
    })
    url = row?.referrer ?? null
  }
  return chain
}
