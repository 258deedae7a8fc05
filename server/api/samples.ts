import { z } from 'zod'
import { RANGES, readHistory } from './history'
import { router, viewerProcedure } from './trpc'

export const samplesRouter = router({
  /** Queue length and throughput of the past, all queues together or one. */
  history: viewerProcedure
    .input(z.strictObject({ range: z.enum(RANGES), queue: z.string().max(64).optional() }))
    .query(({ ctx, input }) => readHistory(ctx.services, input.range, input.queue)),
})
