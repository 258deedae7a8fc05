import { alertOperations } from './alerts'
import { changeOperations } from './changes'
import { figureOperations } from './figures'
import { itemOperations } from './items'
import type { Operation } from './operation'
import { pageOperations } from './pages'
import { queueOperations } from './queues'
import { runOperations } from './runs'
import { scheduleOperations } from './schedules'
import { seedOperations } from './seeds'
import { spiderOperations } from './spiders'
import { workerOperations } from './workers'

/** Everything that `/api/v1` can do, in the order of its description. */
export const operations: readonly Operation[] = [
  ...spiderOperations,
  ...seedOperations,
  ...scheduleOperations,
  ...runOperations,
  ...pageOperations,
  ...itemOperations,
  ...queueOperations,
  ...workerOperations,
  ...figureOperations,
  ...alertOperations,
  ...changeOperations,
]
