import type { PoolConnection } from 'mysql2/promise'
import { UserError } from '../../core/errors'
import type { Spider } from '../../core/spider'
import { inTransaction } from '../../drizzle/database'
import type { fires } from '../../drizzle/schema/crawl'
import type { Services } from '../context'
import { change, select } from '../db'
import { type Actor, recordChange } from './audit-log'
import { noSchedule } from './schedules'
import { hasSeeds } from './seed-rows'

export type FireKind = (typeof fires.$inferSelect)['kind']

/** What of a schedule a fire needs. */
export interface FiringSchedule {
  id: number
  spiderId: number
  queue: string
}

/**
 * Starts a run of a schedule now, whatever its cron says and whether or not another goes on: who asks for it wants it. It is in
 * the history as a fire by hand.
 * @returns the run.
 * @throws UserError for an unknown schedule, or one whose spider is gone or has no seeds.
 */
export async function runScheduleNow(s: Services, id: number, actor: Actor): Promise<number> {
  return inTransaction(s.database.pool, async (connection) => {
    const [schedule] = await select<FiringSchedule & { now: Date }>(
      connection,
      'SELECT id, spider_id AS spiderId, queue, UTC_TIMESTAMP(3) AS now FROM schedules WHERE id = ? FOR UPDATE',
      [id],
    )
    if (!schedule) throw noSchedule(id)
    await recordFire(connection, schedule, schedule.now, 'fired', `started by hand by ${actor}`)
    const run = await startRun(connection, schedule, schedule.now, actor)
    // Undoes the fire too: to the person who waits for the answer it says more than a line in the history.
    if (run === null)
      throw new UserError(
        `Schedule ${id} has nothing to run: its spider is gone or has no seeds; look there first.`,
        { code: 'schedule_empty' },
      )
    await recordChange(connection, actor, 'schedule.run', id, { run })
    return run
  })
}

/** Makes the run of a fire, with the spider as it is now. @returns null, and says so in the fire, when there is nothing to run. */
export async function startRun(
  connection: PoolConnection,
  schedule: FiringSchedule,
  time: Date,
  startedBy: string = `schedule ${schedule.id}`,
): Promise<number | null> {
  const [spider] = await select<{ definition: string }>(
    connection,
    'SELECT definition FROM spiders WHERE id = ?',
    [schedule.spiderId],
  )
  const skip = async (reason: string) => {
    await change(
      connection,
      "UPDATE fires SET kind = 'skipped', reason = ? WHERE schedule_id = ? AND fire_at = ?",
      [reason, schedule.id, time],
    )
    return null
  }
  if (!spider) return skip('its spider is gone')
  const definition = JSON.parse(spider.definition) as Spider
  if (!(await hasSeeds(connection, { id: schedule.spiderId, definition })))
    return skip('its spider has no seeds to begin with')
  const { insertId: run } = await change(
    connection,
    `INSERT INTO runs (spider_id, queue, definition, state, \`trigger\`, schedule_id, fire_at, started_by, created_at)
     VALUES (?, ?, ?, 'seeding', 'schedule', ?, ?, ?, UTC_TIMESTAMP(3))`,
    [schedule.spiderId, schedule.queue, spider.definition, schedule.id, time, startedBy],
  )
  await change(connection, 'UPDATE fires SET run_id = ? WHERE schedule_id = ? AND fire_at = ?', [
    run,
    schedule.id,
    time,
  ])
  return run
}

/** @returns false when this time was decided before; its row then stays as it is. */
export async function recordFire(
  connection: PoolConnection,
  schedule: FiringSchedule,
  time: Date,
  kind: FireKind,
  reason: string | null,
): Promise<boolean> {
  const { affectedRows } = await change(
    connection,
    'INSERT IGNORE INTO fires (schedule_id, fire_at, kind, reason, created_at) VALUES (?, ?, ?, ?, UTC_TIMESTAMP(3))',
    [schedule.id, time, kind, reason],
  )
  return affectedRows === 1
}
