import { sentence } from '../../core/errors'
import { isPassing } from '../../drizzle/database'
import type { Services } from '../context'
import { change, select } from '../db'
import type { ScaleRequest } from '../services/scale'
import type { Driver } from './driver'

type Open = Pick<ScaleRequest, 'id' | 'queue' | 'kind' | 'wanted'>

/**
 * One turn of the scaler: carries out each request that waits, and those that an earlier scaler left half-way, by bringing the
 * queue to the wanted number, which may be repeated. Each ends as done or failed, in words for people. A request that was
 * superseded meanwhile stays so.
 */
export async function carryOut(s: Services, driver: Driver): Promise<void> {
  const open = await select<Open>(
    s.database.pool,
    "SELECT id, queue, kind, wanted FROM scale_requests WHERE state IN ('waiting', 'running') ORDER BY id",
  )
  for (const request of open) {
    const began = await change(
      s.database.pool,
      "UPDATE scale_requests SET state = 'running' WHERE id = ? AND state IN ('waiting', 'running')",
      [request.id],
    )
    if (began.affectedRows === 0) continue
    try {
      const before = await driver.scale(request.queue, request.kind, request.wanted)
      await end(s, request, 'done', told(before, request.wanted))
    } catch (error) {
      // The request stays open, and the next turn goes on.
      if (isPassing(error)) throw error
      await end(s, request, 'failed', sentence(error))
    }
  }
}

async function end(s: Services, { id, queue, wanted }: Open, state: 'done' | 'failed', detail: string) {
  const { affectedRows } = await change(
    s.database.pool,
    "UPDATE scale_requests SET state = ?, detail = ?, finished_at = UTC_TIMESTAMP(3) WHERE id = ? AND state = 'running'",
    [state, detail, id],
  )
  if (affectedRows === 1)
    s.log[state === 'done' ? 'info' : 'warn']({ queue, wanted, detail }, `a scale request is ${state}`)
}

function told(before: number, wanted: number): string {
  if (wanted > before) return `${wanted - before} started`
  return wanted < before ? `${before - wanted} told to drain` : 'nothing to change'
}
