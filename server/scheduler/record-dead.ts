import type { Spider } from '../../core/spider'
import { urlHash } from '../../core/url'
import type { Services } from '../context'
import { change, select } from '../db'

interface DeadPage {
  url: string
  depth: number
  referrer?: string
}

/**
 * Pages that took their workers down have no worker left to record them, so the scheduler does. A row that is there already is
 * the word of a worker and stays.
 */
export async function insertDead(s: Services, run: number, pages: DeadPage[]): Promise<void> {
  if (pages.length === 0) return
  const now = new Date()
  const [record] = await select<{ definition: string }>(
    s.database.pool,
    'SELECT definition FROM runs WHERE id = ?',
    [run],
  )
  const { identity } = JSON.parse(record?.definition ?? '{}') as Partial<Spider>
  const rows = pages
    .map((page) => ({ ...page, hash: urlHash(page.url, identity) }))
    .sort((a, b) => a.hash.compare(b.hash))
    .map((page) => [
      run,
      page.hash,
      page.url,
      'failed',
      'worker_lost',
      page.depth,
      page.referrer ?? null,
      0,
      0,
      0,
      '',
      now,
    ])
  await change(
    s.database.pool,
    'INSERT IGNORE INTO pages (run_id, url_hash, url, state, reason, depth, referrer, attempts, deliveries, items, token, fetched_at) VALUES ?',
    [rows],
  )
}

/** Before a run is declared finished: dead letters without a row, from a scheduler that ended between the two, get theirs. */
export async function recordDead(
  s: Services,
  run: { id: number; queue: string },
  failed: number,
): Promise<void> {
  if (failed === 0) return
  const [row] = await select<{ n: number }>(
    s.database.pool,
    "SELECT COUNT(*) AS n FROM pages WHERE run_id = ? AND state = 'failed'",
    [run.id],
  )
  if (row!.n >= failed) return
  for (let cursor = '0'; ; ) {
    const page = await s.queue(run.queue).list(run.id, 'failed', cursor, 500)
    await insertDead(s, run.id, page.tasks)
    cursor = page.cursor
    if (cursor === '0') return
  }
}
