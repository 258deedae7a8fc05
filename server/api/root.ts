import { alertsRouter } from './alerts'
import { healthRouter } from './health'
import { itemsRouter } from './items'
import { liveRouter } from './live'
import { queuesRouter } from './queues'
import { runsRouter } from './runs'
import { samplesRouter } from './samples'
import { scaleRouter } from './scale'
import { schedulesRouter } from './schedules'
import { seedsRouter } from './seeds'
import { sessionRouter } from './session'
import { spidersRouter } from './spiders'
import { router } from './trpc'
import { workersRouter } from './workers'

/** Everything the console can ask for. */
export const appRouter = router({
  alerts: alertsRouter,
  health: healthRouter,
  items: itemsRouter,
  live: liveRouter,
  queues: queuesRouter,
  runs: runsRouter,
  samples: samplesRouter,
  scale: scaleRouter,
  schedules: schedulesRouter,
  seeds: seedsRouter,
  session: sessionRouter,
  workers: workersRouter,
  spiders: spidersRouter,
})

export type AppRouter = typeof appRouter
