import type { Pool } from 'mysql2/promise'

/** The proxies of a queue, as they are sealed. */
export async function readProxies(
  pool: Pool,
  queue: string,
): Promise<{ id: number; shown: string; sealed: string }[]> {
  const [rows] = await pool.query('SELECT id, shown, sealed FROM proxies WHERE queue = ? ORDER BY id', [
    queue,
  ])
  return rows as { id: number; shown: string; sealed: string }[]
}
