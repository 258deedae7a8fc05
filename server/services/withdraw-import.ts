import type { Services } from '../context'
import { change, select } from '../db'

/**
 * Takes an import back: from now on none of its seeds counts, the process that reads its file writes no more, and what it wrote
 * is removed. When it ends half-way the scheduler goes on with it. One that is finished stays as it is.
 * @param why a sentence with the remedy, for whoever looks at the import.
 */
export async function withdrawImport(s: Services, id: number, why: string): Promise<void> {
  const { pool } = s.database
  await change(pool, "UPDATE imports SET state = 'failed', error = ? WHERE id = ? AND state = 'running'", [
    why,
    id,
  ])
  const [row] = await select<{ state: string }>(pool, 'SELECT state FROM imports WHERE id = ?', [id])
  if (row?.state !== 'failed') return
  for (let removed = 1; removed > 0; )
    removed = (await change(pool, 'DELETE FROM seeds WHERE import_id = ? LIMIT 5000', [id])).affectedRows
  await change(
    pool,
    'UPDATE imports SET open_for = NULL, accepted = 0, finished_at = UTC_TIMESTAMP(3) WHERE id = ? AND open_for IS NOT NULL',
    [id],
  )
}
