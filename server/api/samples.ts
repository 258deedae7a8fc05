import { z } from 'zod'
import { readFailures, readGrowth } from '../services/insights'
import { RANGES, readHistory } from './history'
import { router, viewerProcedure } from './trpc'

export const samplesRouter = router({
  /** Queue length and throughput of the past, all queues together or one. */
  history: viewerProcedure
    .input(z.strictObject({ range: z.enum(RANGES), queue: z.string().max(64).optional() }))
    .query(({ ctx, input }) => readHistory(ctx.services, input.range, input.queue)),

  /** What is behind the failures of the last hour. */
  failures: viewerProcedure.query(({ ctx }) => readFailures(ctx.services)),

  /** Queues whose backlog has grown for five minutes, and the workers that would help. */
  growth: viewerProcedure.query(({ ctx }) => readGrowth(ctx.services)),
})
