import type { Pool, PoolConnection } from 'mysql2/promise'
import { z } from 'zod'
import { type Fault, sentence, UserError } from '../../core/errors'
import type { NewTask } from '../../core/queue/task'
import { type Spider, startUrls } from '../../core/spider'
import { hostKey, urlHash, urlId, webUrl } from '../../core/url'
import type { UrlRules } from '../../core/url-rules'
import { inTransaction } from '../../drizzle/database'
import { change, type Sql, select } from '../db'

/** A start URL as someone gives it. */
export interface SeedInput {
  url: string
  /** −1000 … 1000; the highest goes first. */
  priority?: number
  /** Links away from a seed that this URL already is; limits of depth count from here. */
  depth?: number
  /** Anything JSON can say; handed on to the items unread. */
  meta?: unknown
}

/** A start URL as it is stored. */
export interface SeedRow {
  url: string
  hash: Buffer
  priority: number
  depth: number
  meta: string | null
}

export interface RefusedSeed {
  url: string
  reason: string
  /** The reason for the console, where it has words of its own. */
  fault?: Fault
}

/** Rows written by one statement: below 4 MiB with the longest usual URLs. */
export const SEED_CHUNK = 500

const META_BYTES = 32_768
const numbers = z.object({
  priority: z.number().int().min(-1000).max(1000).default(0),
  depth: z.number().int().min(0).max(10_000).default(0),
})

/** @throws InvalidUrl or UserError with the reason why it can't be a seed. */
export function toSeedRow(seed: SeedInput): SeedRow {
  const url = webUrl(seed.url)
  const result = numbers.safeParse(seed)
  if (!result.success) {
    const [issue] = result.error.issues
    throw new UserError(`its ${issue!.path.join('.')} is not usable: ${issue!.message}`)
  }
  const meta = seed.meta === undefined || seed.meta === null ? null : JSON.stringify(seed.meta)
  if (meta !== null && Buffer.byteLength(meta) > META_BYTES)
    throw new UserError(`its meta is longer than ${META_BYTES / 1024} KiB`)
  return { url, hash: urlHash(url), ...result.data, meta }
}

/** Why a seed can't be used, as a phrase. */
export function refusal(error: unknown): string {
  return sentence(error)
}

/**
 * Stores up to `SEED_CHUNK` rows; those that are there already stay as they are. @returns how many are new.
 * @throws UserError when they belong to an import that was withdrawn meanwhile.
 */
export async function insertSeeds(
  pool: Pool,
  owner: { spiderId: number; runId: number; importId?: number },
  rows: SeedRow[],
): Promise<number> {
  if (rows.length === 0) return 0
  const now = new Date()
  // Sorted by key, so that two writers lock in the same order.
  const values = [...rows]
    .sort((a, b) => a.hash.compare(b.hash))
    .map((row) => [
      owner.spiderId,
      owner.runId,
      row.url,
      row.hash,
      row.priority,
      row.depth,
      row.meta,
      owner.importId ?? null,
      now,
    ])
  const result = await inTransaction(pool, async (connection) => {
    if (owner.importId !== undefined) await holdImport(connection, owner.importId)
    return change(
      connection,
      'INSERT IGNORE INTO seeds (spider_id, run_id, url, url_hash, priority, depth, meta, import_id, created_at) VALUES ?',
      [values],
    )
  })
  return result.affectedRows
}

/** Keeps an import from being withdrawn until the transaction ends. @throws UserError when it was withdrawn already. */
export async function holdImport(connection: PoolConnection, id: number): Promise<'running' | 'finished'> {
  const [row] = await select<{ state: 'running' | 'finished' | 'failed'; error: string | null }>(
    connection,
    'SELECT state, error FROM imports WHERE id = ? FOR UPDATE',
    [id],
  )
  if (!row || row.state === 'failed')
    throw new UserError(row?.error ?? `The import ${id} is gone; import the file again.`)
  return row.state
}

/** Whose seeds a run begins with: its own where it was given some, otherwise its spider's. */
interface SeedOwner {
  id: number
  spiderId: number
  ownSeeds: boolean
}

interface StoredSeed extends Omit<SeedRow, 'hash'> {
  id: number
  /** Since when runs begin with it: for a seed from a file, the moment at which all of the file was read. */
  since: Date
}

/** Seeds that count, of those stored: the ones of a file only once it was read to its end. */
const COUNTED =
  "seeds LEFT JOIN imports ON imports.id = seeds.import_id WHERE seeds.run_id = ? AND seeds.spider_id = ? AND seeds.enabled AND (imports.id IS NULL OR imports.state = 'finished')"

/** Up to `SEED_CHUNK` of the stored seeds that a run begins with, from the one after `cursor` on, by rising id. */
export async function storedSeeds(on: Sql, run: SeedOwner, cursor: number): Promise<StoredSeed[]> {
  return select(
    on,
    `SELECT seeds.id, url, priority, depth, meta, COALESCE(imports.finished_at, seeds.created_at) AS since FROM ${COUNTED} AND seeds.id > ? ORDER BY seeds.id LIMIT ${SEED_CHUNK}`,
    [run.ownSeeds ? run.id : 0, run.spiderId, cursor],
  )
}

/** Whether a run that is given no seeds of its own has somewhere to begin. */
export async function hasSeeds(on: Sql, spider: { id: number; definition: Spider }): Promise<boolean> {
  if (startUrls(spider.definition).length > 0) return true
  return (await select(on, `SELECT 1 FROM ${COUNTED} LIMIT 1`, [0, spider.id])).length > 0
}

/** The task that a stored seed becomes. */
export function seedTask(
  seed: Pick<SeedRow, 'url' | 'priority' | 'depth' | 'meta'>,
  rules: UrlRules,
): NewTask {
  return {
    url: seed.url,
    id: urlId(seed.url, rules),
    host: hostKey(seed.url),
    depth: seed.depth,
    priority: seed.priority,
    ...(seed.meta === null ? {} : { meta: seed.meta }),
  }
}
