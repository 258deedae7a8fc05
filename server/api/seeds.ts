import { z } from 'zod'
import { addSeeds } from '../services/add-seeds'
import { listImports } from '../services/import-list'
import { countSeeds, deleteSeeds, enableSeeds, listSeeds } from '../services/seed-list'
import { previewSeeds } from '../services/seed-preview'
import { ENCODINGS } from '../services/text-lines'
import { operatorProcedure, router, viewerProcedure } from './trpc'

const id = z.number().int().positive()
const ids = z.array(id).min(1).max(500)

export const seedsRouter = router({
  /** Newest first; a search may answer with less than a page and where to go on. */
  list: viewerProcedure
    .input(
      z.strictObject({
        spider: id,
        search: z.string().trim().max(500).optional(),
        cursor: id.nullish(),
        limit: z.number().int().min(1).max(200).default(50),
      }),
    )
    .query(async ({ ctx, input: { cursor, search, ...input } }) => {
      const page = await listSeeds(ctx.services, {
        ...input,
        search: search || undefined,
        before: cursor ?? undefined,
      })
      return { ...page, seeds: page.seeds.map((one) => ({ ...one, createdAt: one.createdAt.getTime() })) }
    }),

  count: viewerProcedure
    .input(z.strictObject({ spider: id }))
    .query(({ ctx, input }) => countSeeds(ctx.services, input.spider)),

  /** The newest imports of a spider, one that is under way first. */
  imports: viewerProcedure
    .input(z.strictObject({ spider: id, limit: z.number().int().min(1).max(100).default(10) }))
    .query(async ({ ctx, input }) =>
      (await listImports(ctx.services, input.spider, input.limit)).map((one) => ({
        ...one,
        createdAt: one.createdAt.getTime(),
        finishedAt: one.finishedAt?.getTime() ?? null,
      })),
    ),

  /** How a file would be read, from its first bytes (base64, 64 KiB at most). */
  preview: operatorProcedure
    .input(
      z.strictObject({
        begin: z.base64().max(90_000),
        encoding: z.enum(ENCODINGS).optional(),
        delimiter: z.string().length(1).optional(),
        header: z.boolean().optional(),
      }),
    )
    .mutation(({ input: { begin, encoding, delimiter, header } }) =>
      previewSeeds(Buffer.from(begin, 'base64'), {
        ...(encoding && { encoding }),
        ...(delimiter && { delimiter }),
        ...(header !== undefined && { header }),
      }),
    ),

  /** Adds seeds one by one; a verdict on each that can't be one. */
  add: operatorProcedure
    .input(
      z.strictObject({
        spider: id,
        seeds: z
          .array(
            z.strictObject({
              url: z.string(),
              priority: z.number().optional(),
              depth: z.number().optional(),
              meta: z.unknown().optional(),
            }),
          )
          .min(1)
          .max(10_000),
      }),
    )
    .mutation(({ ctx, input }) => addSeeds(ctx.services, input, ctx.person.email)),

  enable: operatorProcedure
    .input(z.strictObject({ spider: id, ids, enabled: z.boolean() }))
    .mutation(({ ctx, input }) => enableSeeds(ctx.services, input, ctx.person.email)),

  delete: operatorProcedure
    .input(z.strictObject({ spider: id, ids }))
    .mutation(({ ctx, input }) => deleteSeeds(ctx.services, input, ctx.person.email)),
})
