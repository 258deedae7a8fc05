import { z } from 'zod'
import { listScaleRequests, requestScale } from '../services/scale'
import { limitsSchema, listScaleLimits, MOST_WORKERS, setScaleLimits } from '../services/scale-limits'
import { operatorProcedure, router, viewerProcedure } from './trpc'

const queue = z.string().min(1).max(64)

export const scaleRouter = router({
  /** Requests for workers, newest first, `limit` at a time. */
  list: viewerProcedure
    .input(
      z.strictObject({
        queue: queue.optional(),
        cursor: z.number().int().positive().nullish(),
        limit: z.number().int().min(1).max(200).default(20),
      }),
    )
    .query(async ({ ctx, input: { queue, cursor, limit } }) => {
      const rows = await listScaleRequests(ctx.services, {
        queue,
        before: cursor ?? undefined,
        limit: limit + 1,
      })
      const requests = rows.slice(0, limit).map((row) => ({
        ...row,
        createdAt: row.createdAt.getTime(),
        finishedAt: row.finishedAt?.getTime() ?? null,
      }))
      return { requests, next: rows.length > limit ? requests.at(-1)!.id : null }
    }),

  /** Asks for a number of workers on a queue; the newest request of a queue counts. */
  request: operatorProcedure
    .input(
      z.strictObject({
        queue,
        wanted: z.number().int().min(0).max(MOST_WORKERS),
        reason: z.string().trim().max(500).optional(),
      }),
    )
    .mutation(({ ctx, input }) => requestScale(ctx.services, input, ctx.person.email)),

  /** How far requests of each queue may go, and whether it asks by itself. */
  limits: viewerProcedure.query(({ ctx }) => listScaleLimits(ctx.services)),

  setLimits: operatorProcedure
    .input(z.strictObject({ queue, limits: limitsSchema }))
    .mutation(({ ctx, input }) => setScaleLimits(ctx.services, input.queue, input.limits, ctx.person.email)),
})
