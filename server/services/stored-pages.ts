import type { OutcomeState } from '../../core/queue/states'
import { type StoredLink, unpackLinks } from '../../core/stored-links'
import type { Services } from '../context'
import { select } from '../db'

/** The parts of a page's row that a frontier can be rebuilt from. */
export interface StoredPage {
  hash: Buffer
  url: string
  state: OutcomeState
  depth: number
  referrer: string | null
}

const CHUNK = 500

/** The pages of a run that ended, by key, up to 500 at a time. */
export function storedPages(s: Services, run: number): AsyncGenerator<StoredPage[]> {
  return chunks<StoredPage>(
    s,
    run,
    'SELECT url_hash AS hash, url, state, depth, referrer FROM pages WHERE run_id = ? AND url_hash > ? ORDER BY url_hash LIMIT ?',
  )
}

export interface StoredLinks {
  /** Of the page the links stand on. */
  url: string
  depth: number
  links: StoredLink[]
}

/** The in-scope links that the stored pages of a run offered, by the key of the page, up to 500 pages at a time. */
export async function* storedLinks(s: Services, run: number): AsyncGenerator<StoredLinks[]> {
  const pages = chunks<{ hash: Buffer; url: string; depth: number; links: Buffer }>(
    s,
    run,
    'SELECT url_hash AS hash, url, depth, links FROM pages WHERE run_id = ? AND url_hash > ? AND links IS NOT NULL ORDER BY url_hash LIMIT ?',
  )
  for await (const rows of pages)
    yield rows.map(({ url, depth, links }) => ({
      url,
      depth,
      links: unpackLinks(links),
    }))
}

async function* chunks<Row extends { hash: Buffer }>(
  s: Services,
  run: number,
  query: string,
): AsyncGenerator<Row[]> {
  let after: Buffer = Buffer.alloc(0)
  for (;;) {
    const rows = await select<Row>(s.database.pool, query, [run, after, CHUNK])
    if (rows.length > 0) yield rows
    if (rows.length < CHUNK) return
    after = rows.at(-1)!.hash
  }
}
