import { z } from 'zod'
import {
  deleteSchedule,
  enableSchedule,
  listFires,
  listSchedules,
  previewFires,
  saveSchedule,
} from '../services/schedules'
import { adminProcedure, operatorProcedure, router, viewerProcedure } from './trpc'

const id = z.number().int().positive()

export const schedulesRouter = router({
  list: viewerProcedure.query(({ ctx }) => listSchedules(ctx.services)),

  /** The next instants of an expression, before it is saved. */
  preview: viewerProcedure
    .input(
      z.strictObject({
        cron: z.string().min(1).max(120),
        zone: z.string().min(1).max(64),
        count: z.number().int().min(1).max(50).default(5),
      }),
    )
    .query(({ input }) => previewFires(input.cron, input.zone, input.count)),

  fires: viewerProcedure
    .input(
      z.strictObject({
        schedule: id,
        /** Time of the last one seen, in ms since 1970. */
        before: z.number().int().optional(),
        limit: z.number().int().min(1).max(200).default(50),
      }),
    )
    .query(({ ctx, input }) => {
      const before = input.before === undefined ? undefined : new Date(input.before)
      return listFires(ctx.services, input.schedule, before, input.limit)
    }),

  save: operatorProcedure
    .input(
      z.strictObject({
        id: id.optional(),
        name: z.string(),
        spider: id,
        queue: z.string(),
        cron: z.string(),
        zone: z.string().optional(),
        overlap: z.enum(['skip', 'queue', 'parallel']).optional(),
        missed: z.enum(['skip', 'once', 'all']).optional(),
        enabled: z.boolean().optional(),
      }),
    )
    .mutation(({ ctx, input }) => saveSchedule(ctx.services, input, ctx.person.email)),

  enable: operatorProcedure
    .input(z.strictObject({ id, enabled: z.boolean() }))
    .mutation(({ ctx, input }) => enableSchedule(ctx.services, input.id, input.enabled, ctx.person.email)),

  delete: adminProcedure
    .input(z.strictObject({ id }))
    .mutation(({ ctx, input }) => deleteSchedule(ctx.services, input.id, ctx.person.email)),
})
