import { env } from '../../core/env'
import { sentence, Unavailable, UnsafeError, UserError } from '../../core/errors'
import { openLog } from '../../core/log'
import { patiently } from '../../core/patience'
import { openServices } from '../context'
import { ensureQueue } from '../services/queues'
import { ensureDefaultSpider } from '../services/spiders'
import { startScheduler } from './scheduler'

/** The scheduler process. Exit codes: 0 stopped by SIGTERM or SIGINT, 1 could not start or failed, 2 wrong configuration. */
const FAREWELL_MS = 10_000

async function main(): Promise<void> {
  const log = openLog('scheduler')
  const services = await patiently(log, () => openServices('scheduler'))
  await ensureDefaultSpider(services)
  await ensureQueue(services, env().QUEUE_KEY)
  const scheduler = await startScheduler(services)
  const end = async (signal: string) => {
    services.log.info({ signal }, 'Signal received')
    setTimeout(() => process.exit(1), FAREWELL_MS).unref()
    await scheduler.stop()
    await services.close()
    services.log.flush(() => process.exit(0))
  }
  process.once('SIGTERM', () => void end('SIGTERM'))
  process.once('SIGINT', () => void end('SIGINT'))
  services.log.info('Scheduler started')
}

main().catch((error) => {
  const expected = error instanceof UserError || error instanceof UnsafeError || error instanceof Unavailable
  process.stderr.write(`${expected ? sentence(error) : (error as Error).stack}\n`)
  process.exit(error instanceof UserError ? 2 : 1)
})
