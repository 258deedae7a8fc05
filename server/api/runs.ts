import { TRPCError } from '@trpc/server'
import { z } from 'zod'
import { env } from '../../core/env'
import { OUTCOMES } from '../../core/queue/states'
import { redriveRun } from '../services/redrive'
import { cancelRun, createRun } from '../services/runs'
import { ensureDefaultSpider } from '../services/spiders'
import { viewPages, viewRun, viewRuns } from './run-views'
import { operatorProcedure, router, viewerProcedure } from './trpc'

const id = z.number().int().positive()
const limit = z.number().int().min(1).max(200).default(50)

export const runsRouter = router({
  list: viewerProcedure
    .input(z.strictObject({ cursor: id.nullish(), limit }))
    .query(({ ctx, input }) =>
      viewRuns(ctx.services, { before: input.cursor ?? undefined, limit: input.limit }),
    ),

  get: viewerProcedure.input(z.strictObject({ id })).query(async ({ ctx, input }) => {
    const run = await viewRun(ctx.services, input.id)
    if (!run) throw new TRPCError({ code: 'NOT_FOUND', message: `There is no run ${input.id}.` })
    return run
  }),

  /** Pages of a run that ended, newest first. */
  pages: viewerProcedure
    .input(
      z.strictObject({
        id,
        state: z.enum(OUTCOMES).optional(),
        cursor: z
          .strictObject({
            at: z.number().int(),
            items: z.number().int(),
            hash: z.string().regex(/^[0-9a-f]{64}$/),
          })
          .nullish(),
        limit,
      }),
    )
    .query(({ ctx, input }) =>
      viewPages(ctx.services, {
        run: input.id,
        state: input.state,
        after: input.cursor ?? undefined,
        limit: input.limit,
      }),
    ),

  /** Starts a run: of the spider named, else the default one; from the URL given, else from the spider's seeds. */
  start: operatorProcedure
    .input(
      z.strictObject({
        spider: id.optional(),
        url: z.string().trim().min(1).max(8192).optional(),
        queue: z.string().min(1).max(64).optional(),
      }),
    )
    .mutation(async ({ ctx, input }) => {
      const spider = input.spider ?? (await ensureDefaultSpider(ctx.services)).id
      return createRun(ctx.services, {
        spider,
        queue: input.queue ?? env().QUEUE_KEY,
        ...(input.url !== undefined && { seeds: [{ url: input.url }] }),
        trigger: 'manual',
        startedBy: ctx.person.email,
      })
    }),

  cancel: operatorProcedure
    .input(z.strictObject({ id }))
    .mutation(({ ctx, input }) => cancelRun(ctx.services, input.id, ctx.person.email)),

  /** Gives the run's failed pages another chance. @returns how many. */
  redrive: operatorProcedure
    .input(z.strictObject({ id }))
    .mutation(({ ctx, input }) => redriveRun(ctx.services, input.id, ctx.person.email)),
})
