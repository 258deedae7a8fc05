import type { Services } from '../context'
import { select } from '../db'
import { BYTE_ORDER_MARK, csvLine } from './csv-cells'
import { filterCondition, type PageFilter } from './page-filter'

export const PAGE_FORMATS = { csv: 'text/csv', jsonl: 'application/jsonl', txt: 'text/plain' } as const
export type PageFormat = keyof typeof PAGE_FORMATS

/** The columns of every such file, in this order. */
const COLUMNS = {
  url: 'url',
  state: 'state',
  reason: 'reason',
  status: 'status',
  depth: 'depth',
  finalUrl: 'final_url',
  referrer: 'referrer',
  title: 'title',
  attempts: 'attempts',
  items: 'items',
  bytes: 'bytes',
  ms: 'ms',
  contentType: 'content_type',
  fetchedAt: 'fetched_at',
} as const

const CHUNK = 500

/**
 * A file of the pages of a run that answer to a filter, by key, a chunk at a time: memory stays the same for ten and ten
 * million. CSV is safe to open in a spreadsheet and marked as UTF-8; `txt` has one URL a line, as `orbweaver enqueue` reads it.
 */
export async function* pageFile(
  s: Services,
  run: number,
  filter: PageFilter,
  format: PageFormat,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  const names = Object.keys(COLUMNS)
  const list = Object.entries(COLUMNS).map(([name, column]) => `${column} AS ${name}`)
  const { text, values } = filterCondition(filter)
  if (format === 'csv') yield encoder.encode(BYTE_ORDER_MARK + csvLine(names))
  for (let after: Buffer = Buffer.alloc(0); ; ) {
    const rows = await select<Record<string, unknown> & { hash: Buffer }>(
      s.database.pool,
      `SELECT url_hash AS hash, ${list.join(', ')} FROM pages FORCE INDEX (PRIMARY) WHERE run_id = ? AND url_hash > ?${text} ORDER BY url_hash LIMIT ?`,
      [run, after, ...values, CHUNK],
    )
    const lines = rows.map(({ hash: _, ...row }) => {
      if (format === 'txt') return `${row.url}\n`
      const told = { ...row, fetchedAt: (row.fetchedAt as Date).toISOString() }
      return format === 'jsonl' ? `${JSON.stringify(told)}\n` : csvLine(Object.values(told))
    })
    if (lines.length > 0) yield encoder.encode(lines.join(''))
    if (rows.length < CHUNK) return
    after = rows.at(-1)!.hash
  }
}
