import { tracked } from '@trpc/server'
import { z } from 'zod'
import { router, viewerProcedure } from './trpc'

export const liveRouter = router({
  /**
   * The overview, once a second. Each message carries its time as id, so that a client that lost the connection gets
   * what it missed of the last five minutes.
   */
  overview: viewerProcedure
    .input(
      z
        .strictObject({
          lastEventId: z
            .string()
            .regex(/^\d{1,16}$/)
            .nullish(),
        })
        .optional(),
    )
    .subscription(async function* ({ ctx, input, signal }) {
      const after = input?.lastEventId ? Number(input.lastEventId) : undefined
      for await (const overview of ctx.live.follow(signal ?? AbortSignal.abort(), after))
        yield tracked(String(overview.at), overview)
    }),
})
