import { TRPCError } from '@trpc/server'
import { z } from 'zod'
import { UserError } from '../../core/errors'
import type { Spider } from '../../core/spider'
import { checkSpider, SpiderFaults } from '../../core/spider-check'
import { listCredentials, removeCredentials, saveCredentials } from '../services/credentials'
import { getVersion, listVersions } from '../services/spider-versions'
import { getSpider, listSpiders, saveSpider } from '../services/spiders'
import { operatorProcedure, router, viewerProcedure } from './trpc'

const id = z.number().int().positive()
const origin = z.string().trim().min(1).max(2000)
/** What stands in it is checked by the core, which names each fault and its place. */
const definition = z.record(z.string(), z.unknown())

interface Checked {
  faults: string[]
  definition: Spider | null
}

export const spidersRouter = router({
  list: viewerProcedure.query(async ({ ctx }) =>
    (await listSpiders(ctx.services)).map((one) => ({ ...one, updatedAt: one.updatedAt.getTime() })),
  ),

  get: viewerProcedure
    .input(z.strictObject({ name: z.string().min(1).max(64) }))
    .query(async ({ ctx, input }) => {
      try {
        return await getSpider(ctx.services, input.name)
      } catch (error) {
        if (error instanceof UserError) throw new TRPCError({ code: 'NOT_FOUND', message: error.message })
        throw error
      }
    }),

  /** Every fault of a definition, without saving it; without any, the definition with all defaults filled in. */
  check: operatorProcedure.input(z.strictObject({ definition })).mutation(({ input }): Checked => {
    try {
      return { faults: [], definition: checkSpider(input.definition) }
    } catch (error) {
      if (error instanceof SpiderFaults) return { faults: error.faults, definition: null }
      throw error
    }
  }),

  /** `from`: the version that was edited, 0 for a new spider; another one meanwhile, and nothing is overwritten. */
  save: operatorProcedure
    .input(z.strictObject({ definition, from: z.number().int().min(0) }))
    .mutation(({ ctx, input }) => saveSpider(ctx.services, input.definition, ctx.person.email, input.from)),

  /** What it signs in with, without the secrets. */
  credentials: viewerProcedure
    .input(z.strictObject({ spider: id }))
    .query(({ ctx, input }) => listCredentials(ctx.services, input.spider)),

  saveCredentials: operatorProcedure
    .input(z.strictObject({ spider: id, origin, credentials: z.record(z.string(), z.unknown()) }))
    .mutation(({ ctx, input }) => saveCredentials(ctx.services, input, ctx.person.email)),

  removeCredentials: operatorProcedure
    .input(z.strictObject({ spider: id, origin }))
    .mutation(({ ctx, input }) => removeCredentials(ctx.services, input, ctx.person.email)),

  versions: viewerProcedure
    .input(
      z.strictObject({
        spider: id,
        cursor: id.nullish(),
        limit: z.number().int().min(1).max(100).default(20),
      }),
    )
    .query(async ({ ctx, input: { spider, cursor, limit } }) => {
      const rows = await listVersions(ctx.services, { spider, before: cursor ?? undefined, limit: limit + 1 })
      const versions = rows.slice(0, limit).map((one) => ({ ...one, createdAt: one.createdAt.getTime() }))
      return { versions, next: rows.length > limit ? versions.at(-1)!.version : null }
    }),

  version: viewerProcedure
    .input(z.strictObject({ spider: id, version: id }))
    .query(({ ctx, input }) => getVersion(ctx.services, input.spider, input.version)),
})
