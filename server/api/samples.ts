import { z } from 'zod'
import { Unavailable } from '../../core/errors'
import { readFailures, readGrowth } from '../services/insights'
import { RANGES, readHistory } from './history'
import { router, viewerProcedure } from './trpc'

const NOW_MS = 5_000

export const samplesRouter = router({
  /** Queue length and throughput of the past, all queues together or one. */
  history: viewerProcedure
    .input(z.strictObject({ range: z.enum(RANGES), queue: z.string().max(64).optional() }))
    .query(({ ctx, input }) => readHistory(ctx.services, input.range, input.queue)),

  /** The overview of this moment, for one who does not follow it. */
  now: viewerProcedure.query(async ({ ctx }) => {
    for await (const overview of ctx.live.follow(AbortSignal.timeout(NOW_MS))) return overview
    throw new Unavailable('The state of the queues could not be read in time; ask again in a moment.')
  }),

  /** What is behind the failures of the last hour. */
  failures: viewerProcedure.query(({ ctx }) => readFailures(ctx.services)),

  /** Queues whose backlog has grown for five minutes, and the workers that would help. */
  growth: viewerProcedure.query(({ ctx }) => readGrowth(ctx.services)),
})
