import { hostname } from 'node:os'
import { env } from '../../core/env'
import { sentence, Unavailable, UnsafeError, UserError } from '../../core/errors'
import { openLog } from '../../core/log'
import { patiently } from '../../core/patience'
import { openServices } from '../context'
import { dockerWorkers } from './docker-driver'
import { Engine } from './docker-engine'
import { startScaler } from './scaler'
import { watchContainers } from './watch-containers'

/** The scaler process, for workers in containers. Exit codes: 0 stopped by SIGTERM or SIGINT, 1 could not start, 2 wrong configuration. */
const FAREWELL_MS = 8_000

async function main(): Promise<void> {
  const log = openLog('scaler')
  const services = await patiently(log, () => openServices('scaler'))
  const engine = new Engine(env().DOCKER_HOST)
  const watch = watchContainers(services, engine, hostname())
  const scaler = startScaler(services, dockerWorkers(engine, hostname(), log))
  const end = async (signal: string) => {
    log.info({ signal }, 'Signal received')
    setTimeout(() => process.exit(1), FAREWELL_MS).unref()
    await Promise.all([scaler.stop(), watch.stop()])
    await engine.close()
    await services.close()
    log.flush(() => process.exit(0))
  }
  process.once('SIGTERM', () => void end('SIGTERM'))
  process.once('SIGINT', () => void end('SIGINT'))
  log.info('Scaler started')
}

main().catch((error) => {
  const expected = error instanceof UserError || error instanceof UnsafeError || error instanceof Unavailable
  process.stderr.write(`${expected ? sentence(error) : (error as Error).stack}\n`)
  process.exit(error instanceof UserError ? 2 : 1)
})
