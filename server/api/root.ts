import { alertsRouter } from './alerts'
import { changesRouter } from './changes'
import { healthRouter } from './health'
import { itemsRouter } from './items'
import { keysRouter } from './keys'
import { liveRouter } from './live'
import { peopleRouter } from './people'
import { queuesRouter } from './queues'
import { runsRouter } from './runs'
import { samplesRouter } from './samples'
import { scaleRouter } from './scale'
import { schedulesRouter } from './schedules'
import { seedsRouter } from './seeds'
import { sessionRouter } from './session'
import { spidersRouter } from './spiders'
import { router } from './trpc'
import { tryoutsRouter } from './tryouts'
import { workersRouter } from './workers'

/** Everything the console can ask for. */
export const appRouter = router({
  alerts: alertsRouter,
  changes: changesRouter,
  health: healthRouter,
  items: itemsRouter,
  keys: keysRouter,
  live: liveRouter,
  people: peopleRouter,
  queues: queuesRouter,
  runs: runsRouter,
  samples: samplesRouter,
  scale: scaleRouter,
  schedules: schedulesRouter,
  seeds: seedsRouter,
  session: sessionRouter,
  tryouts: tryoutsRouter,
  workers: workersRouter,
  spiders: spidersRouter,
})

export type AppRouter = typeof appRouter
