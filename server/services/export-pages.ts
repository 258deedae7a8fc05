import type { Services } from '../context'
import { select } from '../db'

/** What is told of a page that ended, in the order of its columns. */
export interface PageRecord {
  url: string
  finalUrl: string | null
  status: number | null
  state: 'done' | 'failed' | 'ignored'
  reason: string | null
  title: string | null
  depth: number
  referrer: string | null
  contentType: string | null
  charset: string | null
  flags: string | null
  /** After decompression. */
  bytes: number | null
  /** From connect to last byte. */
  ms: number | null
  attempts: number
  items: { name: string; data: Record<string, unknown> }[]
}

type PageRow = Omit<PageRecord, 'items'> & { hash: Buffer; itemCount: number }

const CHUNK = 500
/** Rows with items are read in smaller steps once these are many; a page may have thousands. */
const ITEMS_AT_ONCE = 20_000

/**
 * All pages of a run that ended, by key, a chunk at a time: memory stays the same for ten pages and ten million, and a
 * page that is stored meanwhile neither repeats nor hides another.
 */
export async function* pageRows(s: Services, run: number): AsyncGenerator<PageRecord> {
  let after: Buffer = Buffer.alloc(0)
  for (;;) {
    const rows = await select<PageRow>(
      s.database.pool,
      'SELECT url_hash AS hash, url, final_url AS finalUrl, status, state, reason, title, depth, referrer, content_type AS contentType, charset, flags, bytes, ms, attempts, items AS itemCount FROM pages WHERE run_id = ? AND url_hash > ? ORDER BY url_hash LIMIT ?',
      [run, after, CHUNK],
    )
    for (const group of groups(rows)) {
      const items = await itemsOf(s, run, group)
      for (const { hash, itemCount: _, ...page } of group)
        yield { ...page, items: items.get(hash.toString('base64')) ?? [] }
    }
    if (rows.length < CHUNK) return
    after = rows.at(-1)!.hash
  }
}

/** Stretches of rows whose items fit in memory together. */
function* groups(rows: PageRow[]): Generator<PageRow[]> {
  let group: PageRow[] = []
  let items = 0
  for (const row of rows) {
    if (items + row.itemCount > ITEMS_AT_ONCE && group.length > 0) {
      yield group
      group = []
      items = 0
    }
    group.push(row)
    items += row.itemCount
  }
  if (group.length > 0) yield group
}

async function itemsOf(s: Services, run: number, rows: PageRow[]): Promise<Map<string, PageRecord['items']>> {
  const items = new Map<string, PageRecord['items']>()
  if (rows.every((row) => row.itemCount === 0)) return items
  const found = await select<{ hash: Buffer; name: string; data: string }>(
    s.database.pool,
    'SELECT url_hash AS hash, name, data FROM items WHERE run_id = ? AND url_hash BETWEEN ? AND ? ORDER BY url_hash, n',
    [run, rows[0]!.hash, rows.at(-1)!.hash],
  )
  for (const { hash, name, data } of found) {
    const key = hash.toString('base64')
    const list = items.get(key) ?? []
    list.push({ name, data: JSON.parse(data) as Record<string, unknown> })
    items.set(key, list)
  }
  return items
}
