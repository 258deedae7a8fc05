import type { PoolConnection } from 'mysql2/promise'
import { inTransaction } from '../../drizzle/database'
import type { Services } from '../context'
import { change, select } from '../db'
import { nextFires } from '../services/cron'
import { type FireKind, type FiringSchedule, recordFire, startRun } from '../services/fires'
import { databaseNow } from '../services/schedules'
import { oneByOne } from './one-by-one'

/** A fire decided later than this was missed: no scheduler was there for it. */
const LATE_MS = 60_000
/** Fires decided in one transaction; a schedule that has more due gets the rest in its next turn. */
const AT_ONCE = 200
/** Fires of a schedule that may wait for their turn: beyond that, waiting longer only hides that its runs take too long. */
const MOST_WAITING = 100

interface Due extends FiringSchedule {
  cron: string
  zone: string
  overlap: 'skip' | 'queue' | 'parallel'
  missed: 'skip' | 'once' | 'all'
  decidedUntil: Date
}

/**
 * Fires the schedules that are due, and writes down for each time that came what became of it and why. The time is the
 * database's, so that a wrong clock of one scheduler matters to nobody.
 *
 * One transaction decides for one schedule, on its locked row: `decided_until`, the fires and their runs change together or not
 * at all. A leader that was paused past its lease and goes on unaware waits for the lock, and then finds the time decided; the
 * unique keys (schedule, time) of fires and runs hold even if that reasoning is wrong.
 */
export async function fireSchedules(s: Services, still: () => boolean): Promise<void> {
  const now = await databaseNow(s)
  const schedules = await select<
    Pick<Due, 'id' | 'cron' | 'zone' | 'decidedUntil'> & { waiting: number; enabled: number }
  >(
    s.database.pool,
    `SELECT id, cron, zone, decided_until AS decidedUntil, enabled,
            EXISTS (SELECT 1 FROM fires WHERE kind = 'queued' AND schedule_id = schedules.id) AS waiting FROM schedules ORDER BY id`,
  )
  await oneByOne(
    s,
    schedules,
    still,
    ({ id }) => ({ schedule: id }),
    async (schedule) => {
      if (schedule.waiting || (schedule.enabled && isDue(schedule, now)))
        while ((await decide(s, schedule.id, now)) && still());
    },
  )
}

const nextOf = new Map<string, number>()

/** Asked every second of every schedule, so each answer is kept until its schedule has moved on. */
function isDue(
  { cron, zone, decidedUntil }: Pick<Due, 'cron' | 'zone' | 'decidedUntil'>,
  now: Date,
): boolean {
  const key = `${cron}\n${zone}\n${decidedUntil.getTime()}`
  let next = nextOf.get(key)
  if (next === undefined) {
    next = nextFires(cron, zone, decidedUntil, 1)[0]?.getTime() ?? Number.POSITIVE_INFINITY
    if (nextOf.size > 10_000) nextOf.clear()
    nextOf.set(key, next)
  }
  return next <= now.getTime()
}

/** Decides what is due of one schedule up to `now`; repeating it changes nothing. @returns whether more is due. */
export async function decide(s: Services, id: number, now: Date): Promise<boolean> {
  const { started, more } = await inTransaction(s.database.pool, async (connection) => {
    const [schedule] = await select<Due & { enabled: number }>(
      connection,
      'SELECT id, spider_id AS spiderId, queue, cron, zone, overlap, missed, enabled, decided_until AS decidedUntil FROM schedules WHERE id = ? FOR UPDATE',
      [id],
    )
    if (!schedule) return { started: [], more: false }
    if (!schedule.enabled) {
      await dropWaiting(connection, id)
      return { started: [], more: false }
    }
    const started = await startWaiting(connection, schedule)
    const times = nextFires(schedule.cron, schedule.zone, schedule.decidedUntil, AT_ONCE + 1).filter(
      (time) => time <= now,
    )
    const decided = times.slice(0, AT_ONCE)
    for (const [n, time] of decided.entries()) {
      const run = await fireOne(connection, schedule, time, now, n + 1 < times.length)
      if (run !== null) started.push(run)
    }
    if (decided.length > 0)
      await change(connection, 'UPDATE schedules SET decided_until = ? WHERE id = ?', [decided.at(-1), id])
    return { started, more: times.length > decided.length }
  })
  for (const run of started) s.log.info({ schedule: id, run }, 'a schedule fired')
  return more
}

/** @returns the run that was started, or null. */
async function fireOne(
  connection: PoolConnection,
  schedule: Due,
  time: Date,
  now: Date,
  laterIsDue: boolean,
): Promise<number | null> {
  const write = async (kind: FireKind, reason: string | null) => {
    await recordFire(connection, schedule, time, kind, reason)
    return null
  }
  const late = now.getTime() - time.getTime() > LATE_MS
  if (late && schedule.missed === 'skip')
    return write('missed', 'no scheduler was there at that time; missed fires are skipped')
  if (late && schedule.missed === 'once' && laterIsDue)
    return write('missed', 'no scheduler was there at that time; a later fire stands in for this one')
  // Fires that are all made up for come at once: to skip what overlaps would skip all but one of them.
  const overlap =
    late && schedule.missed === 'all' && schedule.overlap === 'skip' ? 'queue' : schedule.overlap
  const open = await openRun(connection, schedule.id)
  if (overlap === 'skip' && open !== null)
    return write('skipped', `run ${open} of this schedule was still going on`)
  if (overlap === 'queue') {
    const waiting = await waitingFires(connection, schedule.id)
    if (waiting >= MOST_WAITING) return write('skipped', `${waiting} fires of this schedule wait already`)
    if (waiting > 0 || open !== null) return write('queued', 'waits for the run before it')
  }
  // The row of the fire comes first: where it is there already, the time was decided before and there is nothing to start.
  if (
    !(await recordFire(
      connection,
      schedule,
      time,
      'fired',
      late ? 'made up for a time at which no scheduler was there' : null,
    ))
  )
    return null
  return startRun(connection, schedule, time)
}

/** Starts the fire that has waited longest, once nothing of its schedule goes on any more. */
async function startWaiting(connection: PoolConnection, schedule: Due): Promise<number[]> {
  const [fire] = await select<{ fireAt: Date }>(
    connection,
    "SELECT fire_at AS fireAt FROM fires WHERE schedule_id = ? AND kind = 'queued' ORDER BY fire_at LIMIT 1",
    [schedule.id],
  )
  if (!fire || (await openRun(connection, schedule.id)) !== null) return []
  await change(
    connection,
    "UPDATE fires SET kind = 'fired', reason = 'waited for the run before it' WHERE schedule_id = ? AND fire_at = ?",
    [schedule.id, fire.fireAt],
  )
  const run = await startRun(connection, schedule, fire.fireAt)
  return run === null ? [] : [run]
}

/** Who stops a schedule does not expect it to start another run when the one under way has ended. */
async function dropWaiting(connection: PoolConnection, schedule: number): Promise<void> {
  await change(
    connection,
    "UPDATE fires SET kind = 'skipped', reason = 'the schedule was stopped while this fire waited' WHERE schedule_id = ? AND kind = 'queued'",
    [schedule],
  )
}

/** The newest run of a schedule that goes on, or null. */
async function openRun(connection: PoolConnection, schedule: number): Promise<number | null> {
  const [run] = await select<{ id: number }>(
    connection,
    "SELECT id FROM runs WHERE schedule_id = ? AND state IN ('seeding', 'running', 'cancelling') ORDER BY id DESC LIMIT 1",
    [schedule],
  )
  return run?.id ?? null
}

async function waitingFires(connection: PoolConnection, schedule: number): Promise<number> {
  const [row] = await select<{ n: number }>(
    connection,
    "SELECT COUNT(*) AS n FROM fires WHERE kind = 'queued' AND schedule_id = ?",
    [schedule],
  )
  return row!.n
}
