import { randomBytes } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { hostname } from 'node:os'
import { env } from '../../core/env'
import { sentence, Unavailable } from '../../core/errors'
import { noteProgress } from '../../core/sign-of-life'
import { isPassing } from '../../drizzle/database'
import { deliver } from '../alerts/deliver'
import type { Services } from '../context'
import { itemDelivery } from '../sinks/deliver-items'
import { autoscaling } from './autoscale'
import { cancelRuns } from './cancel-runs'
import { evaluateAlerts } from './evaluate-alerts'
import { finishRuns } from './finish-runs'
import { fireSchedules } from './fire'
import { guardEpoch } from './guard-epoch'
import { holdForSinks } from './hold-for-sinks'
import { Leader } from './leader'
import { reap } from './reap'
import { retain } from './retention'
import { sample } from './sample'
import { seedRuns } from './seed-runs'
import { repeatSettings } from './settings'
import { watchWorkers } from './watch-workers'
import { withdrawImports } from './withdraw-imports'

interface Duty {
  name: string
  everyMs: number
  /** Done by the leader alone; the others by every scheduler. */
  leader: boolean
  /** `still` turns false when the scheduler stops or no longer leads: long work looks at it between steps. */
  work(s: Services, still: () => boolean): Promise<void>
}

/** The order is that of their first turn: the epoch is settled before anything is admitted. */
const duties = (): Duty[] => [
  { name: 'guard-epoch', everyMs: 2_000, leader: true, work: guardEpoch },
  { name: 'settings', everyMs: 5_000, leader: true, work: repeatSettings },
  { name: 'fire', everyMs: 1_000, leader: true, work: fireSchedules },
  { name: 'seed-runs', everyMs: 250, leader: true, work: seedRuns },
  { name: 'finish-runs', everyMs: 250, leader: true, work: finishRuns },
  { name: 'cancel-runs', everyMs: 250, leader: true, work: cancelRuns },
  { name: 'sample', everyMs: 10_000, leader: true, work: sample },
  { name: 'watch-workers', everyMs: 5_000, leader: true, work: watchWorkers },
  { name: 'evaluate-alerts', everyMs: 15_000, leader: true, work: evaluateAlerts },
  { name: 'autoscale', everyMs: 5_000, leader: true, work: autoscaling() },
  { name: 'deliver-alerts', everyMs: 1_000, leader: true, work: deliver },
  { name: 'deliver-items', everyMs: 1_000, leader: true, work: itemDelivery() },
  { name: 'hold-for-sinks', everyMs: 2_000, leader: true, work: holdForSinks },
  { name: 'withdraw-imports', everyMs: 5_000, leader: true, work: withdrawImports },
  { name: 'retention', everyMs: 3_600_000, leader: true, work: retain },
  { name: 'reap', everyMs: env().REAP_SECONDS * 1000, leader: false, work: reap },
]

/** How long a leader that vanished keeps the others waiting. */
const LEASE_MS = 10_000

export interface Scheduler {
  stop(): Promise<void>
}

/** Starts all duties. Any number of schedulers may run; see `leader.ts` for what that means. */
export async function startScheduler(s: Services): Promise<Scheduler> {
  const leader = new Leader(
    s.database.pool,
    'scheduler',
    `${hostname()}-${process.pid}-${randomBytes(3).toString('hex')}`,
    LEASE_MS,
  )
  const stopping = new AbortController()
  // Each duty listens for the end.
  setMaxListeners(0, stopping.signal)
  let leading = false
  let leadsUntil = 0

  const renew = async () => {
    const asked = performance.now()
    const fence = await leader.hold()
    if ((fence !== null) !== leading)
      s.log.info(
        { holder: leader.holder, fence },
        fence === null ? 'another scheduler leads' : 'this scheduler leads',
      )
    leading = fence !== null
    leadsUntil = asked + LEASE_MS
    // The database answered, so with Redis answering too this process can do its duties.
    await s.redis.ping()
    await noteProgress(Date.now())
  }
  const leads = () => leading && performance.now() < leadsUntil && !stopping.signal.aborted

  await renew()
  const loops = [
    repeat(
      s,
      { name: 'leader', everyMs: LEASE_MS / 4, leader: false, work: renew },
      () => !stopping.signal.aborted,
      stopping.signal,
    ),
    ...duties().map((duty) =>
      repeat(s, duty, duty.leader ? leads : () => !stopping.signal.aborted, stopping.signal),
    ),
  ]
  return {
    async stop() {
      stopping.abort()
      await Promise.all(loops)
      await leader
        .resign()
        .catch((error) =>
          s.log.warn({ cause: sentence(error) }, 'the lead could not be given up; it ends by itself'),
        )
    },
  }
}

/** Does a duty again and again, never twice at once; a failure is logged and the next turn tries again. */
async function repeat(s: Services, duty: Duty, may: () => boolean, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted) {
    if (may()) {
      try {
        await duty.work(s, may)
      } catch (error) {
        if (error instanceof Unavailable || isPassing(error))
          s.log.warn(
            { duty: duty.name, cause: sentence(error) },
            'a duty waits for a server that does not answer',
          )
        else s.log.error({ duty: duty.name, err: error }, 'a duty failed; its next turn tries again')
      }
    }
    await pause(duty.everyMs, stopping)
  }
}

function pause(ms: number, stopping: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (stopping.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      stopping.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    stopping.addEventListener('abort', done, { once: true })
  })
}
