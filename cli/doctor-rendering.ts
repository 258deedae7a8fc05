import type { Database } from '../drizzle/database'
import { type Finding, ok, warn } from './finding'

const ALIVE = "state IN ('running', 'draining') AND heartbeat_at > UTC_TIMESTAMP(3) - INTERVAL 20 SECOND"

/** Whether queues that are rendered have workers with Chromium, and whether what those open is in the browser's own sandbox. */
export async function rendering(database: Database): Promise<Finding> {
  const names = async (sql: string) => {
    const [rows] = await database.pool.query(sql)
    return (rows as { name: string }[]).map(({ name }) => name)
  }
  const unserved = await names(
    `SELECT name FROM queues WHERE kind = 'render' AND name NOT IN (SELECT queue FROM workers WHERE kind = 'render' AND ${ALIVE})`,
  )
  const open = await names(
    `SELECT DISTINCT hostname AS name FROM workers JOIN worker_events AS start ON start.worker_id = workers.id AND start.kind = 'start' WHERE workers.kind = 'render' AND start.detail IS NOT NULL AND ${ALIVE}`,
  )
  const faults: string[] = []
  if (unserved.length > 0)
    faults.push(
      `No worker with Chromium serves ${unserved.join(', ')}; run: docker compose --profile render up -d, or ask for one in the console.`,
    )
  if (open.length > 0)
    faults.push(
      `Chromium runs without its own sandbox on ${open.join(', ')}: only the container, if it is in one, stands between pages and that machine; start those workers as a user that is not root, in containers only.`,
    )
  return faults.length > 0 ? warn(faults.join(' ')) : ok('queues that are rendered have their workers')
}
