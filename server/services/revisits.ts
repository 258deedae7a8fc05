import type { Services } from '../context'
import { select } from '../db'

/** Pages of a run by how they compare with the visit before. */
export interface Revisits {
  /** As they were: their items stand in an earlier run. */
  unchanged: number
  /** There the last time, and not any more. */
  gone: number
  /** Passed over, because their next visit is not due. */
  notDue: number
}

/** Counted in an index; of a large run that takes a moment. */
export async function countRevisits(s: Services, run: number): Promise<Revisits> {
  const rows = await select<{ reason: string; n: number }>(
    s.database.pool,
    "SELECT reason, COUNT(*) AS n FROM pages FORCE INDEX (pages_reason) WHERE run_id = ? AND reason IN ('unchanged', 'gone', 'not_due') GROUP BY reason",
    [run],
  )
  const count = (reason: string) => rows.find((row) => row.reason === reason)?.n ?? 0
  return { unchanged: count('unchanged'), gone: count('gone'), notDue: count('not_due') }
}
