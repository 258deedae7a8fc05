import type { Pool } from 'mysql2/promise'
import { DEFAULT_SPIDER, type Spider, spiderSchema } from '../../core/spider'

export interface SpiderRecord {
  id: number
  definition: Spider
}

/** A spider by name, or null. The built-in `default` is made on first use, so that a bare URL always has a home. */
export async function findSpider(pool: Pool, name: string): Promise<SpiderRecord | null> {
  if (name === DEFAULT_SPIDER.name) {
    await pool.query(
      'INSERT IGNORE INTO spiders (name, definition, version, created_at, updated_at) VALUES (?, ?, 1, UTC_TIMESTAMP(3), UTC_TIMESTAMP(3))',
      [name, JSON.stringify(DEFAULT_SPIDER)],
    )
  }
  const [rows] = await pool.query('SELECT id, definition FROM spiders WHERE name = ?', [name])
  const row = (rows as { id: number; definition: string }[])[0]
  return row ? { id: row.id, definition: spiderSchema.parse(JSON.parse(row.definition)) } : null
}

/**
 * The run that collects a queue's inbox entries for a spider, made when there is none: `open_key` is unique, so however many
 * workers ask at once there is one. The scheduler closes it once the inbox has been idle.
 */
export async function openInboxRun(
  pool: Pool,
  queue: string,
  spider: SpiderRecord,
  epoch: number,
): Promise<number> {
  const key = `${queue}/${spider.id}`
  const find = async () => {
    const [rows] = await pool.query('SELECT id FROM runs WHERE open_key = ?', [key])
    return (rows as { id: number }[])[0]?.id
  }
  const open = await find()
  if (open) return open
  await pool.query(
    "INSERT IGNORE INTO runs (spider_id, queue, definition, state, `trigger`, own_seeds, open_key, epoch, created_at) VALUES (?, ?, ?, 'running', 'inbox', TRUE, ?, ?, UTC_TIMESTAMP(3))",
    [spider.id, queue, JSON.stringify(spider.definition), key, epoch],
  )
  const made = await find()
  if (!made)
    throw new Error(
      `The inbox run ${key} was closed while it was opened; the entries stay in the inbox and are taken next time.`,
    )
  return made
}

/** Entries were admitted to the run: should its record say that it is finished, it is not any more. */
export async function goOn(pool: Pool, run: number): Promise<void> {
  await pool.query(
    "UPDATE runs SET state = 'running', finished_at = NULL WHERE id = ? AND state = 'finished'",
    [run],
  )
}

/** Seeds of an inbox run go to the record before the frontier hears of them. Repeats change nothing. */
export async function storeSeeds(
  pool: Pool,
  spiderId: number,
  run: number,
  seeds: { url: string; hash: Buffer; priority: number; depth: number; meta: string | null }[],
): Promise<void> {
  if (seeds.length === 0) return
  const now = new Date()
  const rows = [...seeds]
    .sort((a, b) => a.hash.compare(b.hash))
    .map((seed) => [spiderId, run, seed.url, seed.hash, seed.priority, seed.depth, seed.meta, now])
  await pool.query(
    'INSERT IGNORE INTO seeds (spider_id, run_id, url, url_hash, priority, depth, meta, created_at) VALUES ?',
    [rows],
  )
}
