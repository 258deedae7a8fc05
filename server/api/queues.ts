import { z } from 'zod'
import { configureQueue, listQueues, pauseQueue, resumeQueue } from '../services/queues'
import { operatorProcedure, router, viewerProcedure } from './trpc'

const name = z.string().min(1).max(64)

export const queuesRouter = router({
  list: viewerProcedure.query(({ ctx }) => listQueues(ctx.services)),

  configure: operatorProcedure
    .input(
      z.strictObject({
        name,
        settings: z.strictObject({
          delayMs: z.number().int().min(0).max(86_400_000).optional(),
          perHost: z.number().int().min(1).max(1000).optional(),
          concurrency: z.number().int().min(1).max(1000).optional(),
          maxRunning: z.number().int().min(1).max(1_000_000).nullable().optional(),
        }),
      }),
    )
    .mutation(({ ctx, input }) => configureQueue(ctx.services, input.name, input.settings, ctx.person.email)),

  pause: operatorProcedure
    .input(z.strictObject({ name }))
    .mutation(({ ctx, input }) => pauseQueue(ctx.services, input.name, ctx.person.email)),

  resume: operatorProcedure
    .input(z.strictObject({ name }))
    .mutation(({ ctx, input }) => resumeQueue(ctx.services, input.name, ctx.person.email)),
})
