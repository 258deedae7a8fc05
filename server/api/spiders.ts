import { listSpiders } from '../services/spiders'
import { router, viewerProcedure } from './trpc'

export const spidersRouter = router({
  list: viewerProcedure.query(({ ctx }) => listSpiders(ctx.services)),
})
