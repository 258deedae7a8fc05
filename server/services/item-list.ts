import type { Spider } from '../../core/spider'
import type { Services } from '../context'
import { select } from '../db'
import { getRun } from './runs'

/** What was taken from a page. */
export interface Item {
  /** SHA-256 of the page's URL, hex, and the item's number on the page: where a list goes on after it. */
  hash: string
  n: number
  url: string
  data: Record<string, unknown>
}

export interface ItemKind {
  name: string
  /** Names of its fields, in the order of the spider: the columns of every list and file, run after run. */
  fields: string[]
}

/** What every page yields when the spider takes nothing of its own (worker/extract/read-page.ts). */
const DEFAULT_KIND: ItemKind = {
  name: 'page',
  fields: ['title', 'description', 'canonical', 'language', 'linksInternal', 'linksExternal'],
}

/** Rows looked through by one statement. */
const STEP = 5_000

/** The kinds of item that a run takes. Two rules of the spider may have the same name; they share their fields. */
export function itemKinds(definition: Spider): ItemKind[] {
  if (!definition.items) return [DEFAULT_KIND]
  const kinds = new Map<string, Set<string>>()
  for (const { name, fields } of definition.items)
    kinds.set(name, new Set([...(kinds.get(name) ?? []), ...Object.keys(fields)]))
  return [...kinds].map(([name, fields]) => ({ name, fields: [...fields] }))
}

/**
 * Items of one kind of a run, by key; `after` is the last one seen. Those of other kinds, and without what is searched,
 * are passed over; after `searchMs` this answers with what was found and where to go on, so `next` may be there with less
 * than a page.
 * @throws UserError for an unknown run.
 */
export async function listItems(
  s: Services,
  input: {
    run: number
    kind: string
    search?: string | undefined
    after?: { hash: string; n: number } | undefined
    limit: number
  },
  searchMs = 200,
): Promise<{ items: Item[]; next: { hash: string; n: number } | null }> {
  await getRun(s, input.run)
  const until = performance.now() + searchMs
  const found: Item[] = []
  let after = input.after ?? { hash: '', n: -1 }
  for (;;) {
    const rows = await chunk(s, input, after, input.search || found.length > 0 ? STEP : input.limit + 1)
    for (const row of rows.rows) {
      found.push(row)
      if (found.length > input.limit) {
        const items = found.slice(0, input.limit)
        const { hash, n } = items.at(-1)!
        return { items, next: { hash, n } }
      }
    }
    if (rows.end === null) return { items: found, next: null }
    after = rows.end
    if (performance.now() >= until) return { items: found, next: after }
  }
}

/** All items of one kind, a chunk at a time: memory stays the same for ten and ten million. */
export async function* allItems(s: Services, run: number, kind: string): AsyncGenerator<Item> {
  for (let after = { hash: '', n: -1 }; ; ) {
    const { rows, end } = await chunk(s, { run, kind }, after, 500)
    yield* rows
    if (end === null) return
    after = end
  }
}

/** The items that fit among the next `step` ones. `end`: the last that was looked at, null at the end of the run. */
async function chunk(
  s: Services,
  { run, kind, search }: { run: number; kind: string; search?: string | undefined },
  after: { hash: string; n: number },
  step: number,
): Promise<{ rows: Item[]; end: { hash: string; n: number } | null }> {
  const hash = Buffer.from(after.hash, 'hex')
  // The key is read in order from there on, and no further than the step; what fits is decided within.
  const position = [run, hash, hash, after.n]
  const beyond = 'run_id = ? AND url_hash >= ? AND (url_hash > ? OR n > ?)'
  const [last] = await select<{ hash: Buffer; n: number }>(
    s.database.pool,
    `SELECT url_hash AS hash, n FROM items WHERE ${beyond} ORDER BY run_id, url_hash, n LIMIT 1 OFFSET ?`,
    [...position, step - 1],
  )
  const like = search ? `%${search.replace(/[\\%_]/g, '\\$&')}%` : null
  const rows = await select<{ hash: Buffer; n: number; url: string; data: string }>(
    s.database.pool,
    `SELECT items.url_hash AS hash, n, pages.url AS url, data FROM items JOIN pages ON pages.run_id = items.run_id AND pages.url_hash = items.url_hash WHERE items.run_id = ? AND items.url_hash >= ? AND (items.url_hash > ? OR n > ?)${last ? ' AND (items.url_hash < ? OR (items.url_hash = ? AND n <= ?))' : ''} AND name = ?${like ? ' AND (data LIKE ? OR pages.url LIKE ?)' : ''} ORDER BY items.run_id, items.url_hash, n`,
    [...position, ...(last ? [last.hash, last.hash, last.n] : []), kind, ...(like ? [like, like] : [])],
  )
  return {
    rows: rows.map((row) => ({
      hash: row.hash.toString('hex'),
      n: row.n,
      url: row.url,
      data: JSON.parse(row.data) as Record<string, unknown>,
    })),
    end: last ? { hash: last.hash.toString('hex'), n: last.n } : null,
  }
}
