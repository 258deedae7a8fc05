import { health } from './readiness'
import { publicProcedure, router } from './trpc'

export const healthRouter = router({
  /** Whether the servers behind the console answer; says nothing of what is in them. */
  status: publicProcedure.query(({ ctx }) => health(ctx.services)),
})
