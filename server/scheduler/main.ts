import { env } from '../../core/env'
import { patiently } from '../../core/patience'
import { runProgram } from '../../core/program'
import { openServices } from '../context'
import { ensureQueue } from '../services/queues'
import { ensureDefaultSpider } from '../services/spiders'
import { startScheduler } from './scheduler'

/** The scheduler process. */
await runProgram('scheduler', async (log) => {
  const services = await patiently(log, () => openServices('scheduler'))
  await ensureDefaultSpider(services)
  await ensureQueue(services, env().QUEUE_KEY)
  const scheduler = await startScheduler(services)
  log.info('Scheduler started')
  return {
    farewellMs: 10_000,
    async stop() {
      await scheduler.stop()
      await services.close()
    },
  }
})
