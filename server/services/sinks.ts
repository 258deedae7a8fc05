import { inTransaction } from '../../drizzle/database'
import type { Services } from '../context'
import { change, select } from '../db'
import { type Actor, recordChange } from './audit-log'

export interface SinkLength {
  sink: string
  /** Pages whose items are still to be given. */
  waiting: number
  /** Seconds for which the first of them has waited. */
  oldestSeconds: number
  /** Why it does, when the sink did not take it. */
  detail: string | null
  /** Pages that the sink refuses, and why the first of them. */
  refused: number
  refusal: string | null
}

/** The sinks that have anything waiting or refused. The index alone is read, but for the first of each. */
export async function readSinkLengths(s: Services): Promise<SinkLength[]> {
  const rows = await select<{
    sink: string
    state: 'waiting' | 'dead'
    n: number
    detail: string | null
    age: number
  }>(
    s.database.pool,
    `SELECT c.sink, c.state, c.n, o.detail, GREATEST(0, TIMESTAMPDIFF(SECOND, o.created_at, UTC_TIMESTAMP(3))) AS age
       FROM (SELECT sink, state, COUNT(*) AS n, MIN(id) AS first FROM sink_outbox GROUP BY sink, state) c
       JOIN sink_outbox o ON o.id = c.first ORDER BY c.sink`,
  )
  return [...new Set(rows.map(({ sink }) => sink))].map((sink) => {
    const of = (state: string) => rows.find((row) => row.sink === sink && row.state === state)
    const [waiting, dead] = [of('waiting'), of('dead')]
    return {
      sink,
      waiting: waiting?.n ?? 0,
      oldestSeconds: waiting?.age ?? 0,
      detail: waiting?.detail ?? null,
      refused: dead?.n ?? 0,
      refusal: dead?.detail ?? null,
    }
  })
}

/** Gives a sink again what it refused. @returns how many pages. */
export function replaySink(s: Services, sink: string, actor: Actor): Promise<number> {
  return inTransaction(s.database.pool, async (connection) => {
    const { affectedRows } = await change(
      connection,
      "UPDATE sink_outbox SET state = 'waiting', detail = NULL, tries = 0, version = version + 1 WHERE sink = ? AND state = 'dead'",
      [sink],
    )
    await recordChange(connection, actor, 'sink.replay', sink, { pages: affectedRows })
    return affectedRows
  })
}
