import { z } from 'zod'
import { router, viewerProcedure } from './trpc'
import { viewWorkerEvents, viewWorkers } from './worker-views'

const limit = z.number().int().min(1).max(200).default(50)

export const workersRouter = router({
  /** Workers, the one that was heard of last in front; `cursor` is the last one seen. */
  list: viewerProcedure
    .input(
      z.strictObject({
        show: z.enum(['alive', 'gone']).default('alive'),
        queue: z.string().min(1).max(64).optional(),
        cursor: z.strictObject({ at: z.number().int(), id: z.string().max(100) }).nullish(),
        limit,
      }),
    )
    .query(({ ctx, input: { cursor, ...input } }) =>
      viewWorkers(ctx.services, { ...input, after: cursor ?? undefined }),
    ),

  /** Starts, stops and losses, newest first. */
  events: viewerProcedure
    .input(
      z.strictObject({
        restartsOnly: z.boolean().default(false),
        cursor: z.number().int().positive().nullish(),
        limit,
      }),
    )
    .query(({ ctx, input: { cursor, ...input } }) =>
      viewWorkerEvents(ctx.services, { ...input, before: cursor ?? undefined }),
    ),
})
