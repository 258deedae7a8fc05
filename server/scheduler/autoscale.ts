import { sentence, UserError } from '../../core/errors'
import { quietUntil } from '../../core/quiet-hours'
import type { Services } from '../context'
import { select } from '../db'
import { getQueue } from '../services/queues'
import { requestScale } from '../services/scale'
import { listScaleLimits, type ScaleLimits } from '../services/scale-limits'
import { decide, type Memory } from './autoscale-decision'

/** Who asks, as requests and the audit log name it. */
const ACTOR = 'autoscaling'
/** Time for workers that were started to be on record. */
const REGISTER_SECONDS = 15
const FAILED_SECONDS = 300

/**
 * Asks for more or fewer workers of those queues that are told to do so. What it remembers dies with the lead of its scheduler: the
 * next one counts anew, which only delays a step.
 */
export function autoscaling(): (s: Services, still: () => boolean) => Promise<void> {
  const memories = new Map<string, Memory>()
  return async (s, still) => {
    const all = await listScaleLimits(s)
    for (const { queue, auto } of all) if (!auto) memories.delete(queue)
    for (const limits of all.filter(({ auto }) => auto)) if (still()) await look(s, limits, memories)
  }
}

async function look(
  s: Services,
  { queue, ...limits }: ScaleLimits & { queue: string },
  memories: Map<string, Memory>,
): Promise<void> {
  const [open] = await select(
    s.database.pool,
    `SELECT 1 FROM scale_requests WHERE queue = ? AND (state IN ('waiting', 'running')
     OR (state = 'done' AND finished_at > UTC_TIMESTAMP(3) - INTERVAL ${REGISTER_SECONDS} SECOND)
     OR (state = 'failed' AND author = '${ACTOR}' AND finished_at > UTC_TIMESTAMP(3) - INTERVAL ${FAILED_SECONDS} SECOND)) LIMIT 1`,
    [queue],
  )
  // Until the last wish is met, the number of workers says nothing; and what it could not have now, it cannot have in a moment.
  if (open) return void memories.delete(queue)
  const { paused, maxRunning, concurrency, quiet } = await getQueue(s, queue)
  const { pending, retry, inbox, running } = await s.queue(queue).lengths()
  const [alive] = await select<{ n: number }>(
    s.database.pool,
    "SELECT COUNT(*) AS n FROM workers WHERE queue = ? AND state = 'running'",
    [queue],
  )
  const { memory, ask } = decide(limits, memories.get(queue) ?? { behindSince: null, idleSince: null }, {
    now: Date.now(),
    waits: await s.queue(queue).waitsForWorker(),
    open: !paused && quietUntil(quiet, Date.now()) === null && (maxRunning === null || running < maxRunning),
    running,
    concurrency,
    left: pending + retry + inbox,
    workers: alive!.n,
  })
  memories.set(queue, memory)
  if (!ask) return
  try {
    await requestScale(s, { queue, wanted: ask.wanted, reason: ask.cause }, ACTOR)
    s.log.info({ queue, from: alive!.n, to: ask.wanted, cause: ask.cause }, 'asked for workers')
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    s.log.warn({ queue, wanted: ask.wanted, cause: sentence(error) }, 'a wish for workers was refused')
  }
}
