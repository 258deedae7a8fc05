import { TRPCError } from '@trpc/server'
import { z } from 'zod'
import { env } from '../../core/env'
import { pageFilter } from '../services/page-filter'
import { countPages, listPages, pageFacets } from '../services/page-list'
import { readPage } from '../services/page-record'
import { redriveRun } from '../services/redrive'
import { countRevisits } from '../services/revisits'
import { cancelRun, createRun } from '../services/runs'
import { ensureDefaultSpider } from '../services/spiders'
import { viewRun, viewRuns } from './run-views'
import { operatorProcedure, router, viewerProcedure } from './trpc'

const id = z.number().int().positive()
/** Of a canonical URL: SHA-256, hex. */
const hash = z.string().regex(/^[0-9a-f]{64}$/)
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

  /** Pages of a run that ended, newest first. A search may answer with less than a page and where to go on. */
  pages: viewerProcedure
    .input(
      z.strictObject({
        id,
        filter: pageFilter.default({}),
        cursor: z
          .union([
            z.strictObject({ at: z.number().int(), items: z.number().int(), hash }),
            z.strictObject({ hash }),
          ])
          .nullish(),
        limit,
        /** Look for longer than a page that opens should take. */
        further: z.boolean().default(false),
      }),
    )
    .query(({ ctx, input }) =>
      listPages(
        ctx.services,
        { run: input.id, filter: input.filter, after: input.cursor ?? undefined, limit: input.limit },
        { ms: input.further ? 2_000 : 200 },
      ),
    ),

  /** How many pages answer to a filter, at least; `whole` when it is exactly so many. */
  count: viewerProcedure
    .input(z.strictObject({ id, filter: pageFilter }))
    .query(({ ctx, input }) => countPages(ctx.services, input.id, input.filter)),

  /** One page of a run: its row, its items, the way that led to it, and why it is where it is. */
  page: viewerProcedure.input(z.strictObject({ id, hash })).query(async ({ ctx, input }) => {
    const page = await readPage(ctx.services, input.id, input.hash)
    if (!page)
      throw new TRPCError({
        code: 'NOT_FOUND',
        message: `Run ${input.id} has no page ${input.hash} that ended.`,
      })
    return page
  }),

  /** Hosts, statuses and classes of error that pages of the run have. */
  facets: viewerProcedure
    .input(z.strictObject({ id }))
    .query(({ ctx, input }) => pageFacets(ctx.services, input.id)),

  /** How its pages compare with the visit before. */
  revisits: viewerProcedure
    .input(z.strictObject({ id }))
    .query(({ ctx, input }) => countRevisits(ctx.services, input.id)),

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

  /** Gives failed pages of the run another chance: those named, or all that answer to the filter. @returns how many. */
  redrive: operatorProcedure
    .input(
      z.strictObject({
        id,
        hashes: z.array(hash).min(1).max(500).optional(),
        filter: pageFilter.omit({ state: true }).default({}),
      }),
    )
    .mutation(({ ctx, input: { id, hashes, filter } }) =>
      redriveRun(ctx.services, id, ctx.person.email, hashes ? { hashes } : { filter }),
    ),
})
