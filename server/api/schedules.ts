import { TRPCError } from '@trpc/server'
import { z } from 'zod'
import { runScheduleNow } from '../services/fires'
import { deleteSchedule, enableSchedule, enableSchedules, saveSchedule } from '../services/schedules'
import {
  LANGUAGES,
  previewSchedule,
  scheduleChoices,
  viewFires,
  viewSchedule,
  viewSchedules,
} from './schedule-views'
import { adminProcedure, operatorProcedure, router, viewerProcedure } from './trpc'

const id = z.number().int().positive()
const language = z.enum(LANGUAGES).default('en')
const filter = {
  /** Part of the name. */
  search: z.string().trim().max(191).optional(),
  queue: z.string().min(1).max(64).optional(),
}

export const schedulesRouter = router({
  /** Schedules by name; `cursor` is the last one seen. */
  list: viewerProcedure
    .input(
      z
        .strictObject({
          ...filter,
          enabled: z.boolean().optional(),
          cursor: z.strictObject({ name: z.string().max(191), id }).nullish(),
          limit: z.number().int().min(1).max(200).default(50),
          language,
        })
        .prefault({}),
    )
    .query(({ ctx, input: { cursor, limit, language, ...filter } }) =>
      viewSchedules(ctx.services, filter, { after: cursor ?? undefined, limit }, language),
    ),

  get: viewerProcedure.input(z.strictObject({ id, language })).query(async ({ ctx, input }) => {
    const schedule = await viewSchedule(ctx.services, input.id, input.language)
    if (!schedule) throw new TRPCError({ code: 'NOT_FOUND', message: `There is no schedule ${input.id}.` })
    return schedule
  }),

  /** What the form offers. */
  choices: viewerProcedure.query(({ ctx }) => scheduleChoices(ctx.services)),

  /** The next instants of an expression and what it says, before it is saved. */
  preview: viewerProcedure
    .input(
      z.strictObject({
        cron: z.string().min(1).max(120),
        zone: z.string().min(1).max(64),
        count: z.number().int().min(1).max(50).default(5),
        language,
      }),
    )
    .query(({ input }) => previewSchedule(input.cron, input.zone, input.count, input.language)),

  /** What became of each time a schedule was due, newest first. */
  fires: viewerProcedure
    .input(
      z.strictObject({
        schedule: id,
        /** Time of the last one seen, in ms since 1970. */
        cursor: z.number().int().nullish(),
        limit: z.number().int().min(1).max(200).default(50),
      }),
    )
    .query(({ ctx, input }) =>
      viewFires(ctx.services, {
        schedule: input.schedule,
        before: input.cursor ?? undefined,
        limit: input.limit,
      }),
    ),

  /** @returns the id, a new one where none was given. */
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
    .mutation(async ({ ctx, input }) => {
      const saved = await saveSchedule(ctx.services, input, ctx.person.email)
      return { id: saved.id }
    }),

  enable: operatorProcedure
    .input(z.strictObject({ id, enabled: z.boolean() }))
    .mutation(async ({ ctx, input }) => {
      await enableSchedule(ctx.services, input.id, input.enabled, ctx.person.email)
    }),

  /** Stops or resumes all that match. @returns how many. */
  enableMatching: operatorProcedure
    .input(z.strictObject({ ...filter, enabled: z.boolean() }))
    .mutation(async ({ ctx, input: { enabled, ...filter } }) => ({
      changed: await enableSchedules(ctx.services, filter, enabled, ctx.person.email),
    })),

  /** Starts a run of the schedule now. @returns the run's id. */
  run: operatorProcedure.input(z.strictObject({ id })).mutation(async ({ ctx, input }) => ({
    run: await runScheduleNow(ctx.services, input.id, ctx.person.email),
  })),

  delete: adminProcedure
    .input(z.strictObject({ id }))
    .mutation(({ ctx, input }) => deleteSchedule(ctx.services, input.id, ctx.person.email)),
})
