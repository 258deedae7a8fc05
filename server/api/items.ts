import { z } from 'zod'
import { itemKinds, listItems } from '../services/item-list'
import { getRun } from '../services/runs'
import { router, viewerProcedure } from './trpc'

const run = z.number().int().positive()

export const itemsRouter = router({
  /** The kinds of item that a run takes, each with its columns. */
  kinds: viewerProcedure
    .input(z.strictObject({ run }))
    .query(async ({ ctx, input }) => itemKinds((await getRun(ctx.services, input.run)).definition)),

  /** By key; a search may answer with less than a page and where to go on. */
  list: viewerProcedure
    .input(
      z.strictObject({
        run,
        kind: z.string().min(1).max(64),
        search: z.string().trim().max(500).optional(),
        cursor: z
          .strictObject({ hash: z.string().regex(/^[0-9a-f]{64}$/), n: z.number().int().min(0) })
          .nullish(),
        limit: z.number().int().min(1).max(200).default(50),
      }),
    )
    .query(({ ctx, input: { cursor, search, ...input } }) =>
      listItems(ctx.services, { ...input, search: search || undefined, after: cursor ?? undefined }),
    ),
})
