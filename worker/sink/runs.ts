import type { Pool } from 'mysql2/promise'
import { type Spider, spiderSchema, startUrls } from '../../core/spider'

/** How many seeds' hosts a run's scope remembers; beyond that a link is held to the host of the page it stands on. */
const SEEDS_REMEMBERED = 10_000

export interface RunRecord {
  id: number
  spiderId: number
  definition: Spider
  /** Up to 10,000 of the run's seed URLs. */
  seeds: string[]
  /** The spider's run before this one. */
  previous: number | null
}

/** The run's snapshot of its spider, and the seeds it begins with (see `seeds` in the schema); null when there is no such run. */
export async function readRun(pool: Pool, id: number): Promise<RunRecord | null> {
  const [rows] = await pool.query('SELECT spider_id, definition, own_seeds FROM runs WHERE id = ?', [id])
  const row = (rows as { spider_id: number; definition: string; own_seeds: number }[])[0]
  if (!row) return null
  const definition = spiderSchema.parse(JSON.parse(row.definition))
  const [seeds] = await pool.query(
    "SELECT url FROM seeds LEFT JOIN imports ON imports.id = seeds.import_id WHERE seeds.run_id = ? AND seeds.spider_id = ? AND seeds.enabled AND (imports.id IS NULL OR imports.state = 'finished') LIMIT ?",
    [row.own_seeds ? id : 0, row.spider_id, SEEDS_REMEMBERED],
  )
  const [before] = await pool.query('SELECT MAX(id) AS id FROM runs WHERE spider_id = ? AND id < ?', [
    row.spider_id,
    id,
  ])
  const written = row.own_seeds ? [] : startUrls(definition)
  return {
    id,
    spiderId: row.spider_id,
    definition,
    seeds: [...written, ...(seeds as { url: string }[]).map((seed) => seed.url)].slice(0, SEEDS_REMEMBERED),
    previous: (before as { id: number | null }[])[0]!.id,
  }
}
