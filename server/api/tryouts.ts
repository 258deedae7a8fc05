import { z } from 'zod'
import { askTryout, readAgain, readTryout } from '../services/tryouts'
import { operatorProcedure, router } from './trpc'

const queue = z.string().min(1).max(64)
const id = z.string().regex(/^[0-9a-f]{32}$/)
/** What stands in it is checked by the core, which names each fault and its place. */
const definition = z.record(z.string(), z.unknown())

export const tryoutsRouter = router({
  /** Has a worker fetch a URL as a spider would, saved or not; `get` tells how far it is. */
  ask: operatorProcedure
    .input(z.strictObject({ queue, url: z.string().min(1).max(20_000), definition }))
    .mutation(({ ctx, input }) => askTryout(ctx.services, input, ctx.person)),

  /** A trial of one's own: nobody else's is told, and none after ten minutes. */
  get: operatorProcedure
    .input(z.strictObject({ queue, id }))
    .query(({ ctx, input }) => readTryout(ctx.services, input, ctx.person)),

  /** Has a worker read the page that was fetched again, as another spider would; nothing is fetched. */
  read: operatorProcedure
    .input(z.strictObject({ queue, id, definition }))
    .mutation(({ ctx, input }) => readAgain(ctx.services, input, ctx.person)),
})
