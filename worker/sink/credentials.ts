import type { Pool } from 'mysql2/promise'

/** What a spider signs in with, by origin, as it is sealed. */
export async function readCredentials(
  pool: Pool,
  spider: number,
): Promise<{ origin: string; sealed: string }[]> {
  const [rows] = await pool.query('SELECT origin, sealed FROM spider_credentials WHERE spider_id = ?', [
    spider,
  ])
  return rows as { origin: string; sealed: string }[]
}
