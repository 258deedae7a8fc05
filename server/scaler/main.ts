import { hostname } from 'node:os'
import { env } from '../../core/env'
import { patiently } from '../../core/patience'
import { runProgram } from '../../core/program'
import { openServices } from '../context'
import { dockerWorkers } from './docker-driver'
import { Engine } from './docker-engine'
import { startScaler } from './scaler'
import { watchContainers } from './watch-containers'

/** The scaler process, for workers in containers. */
await runProgram('scaler', async (log) => {
  const services = await patiently(log, () => openServices('scaler'))
  const engine = new Engine(env().DOCKER_HOST)
  const watch = watchContainers(services, engine, hostname())
  const scaler = startScaler(services, dockerWorkers(engine, hostname(), log))
  log.info('Scaler started')
  return {
    farewellMs: 8_000,
    async stop() {
      await Promise.all([scaler.stop(), watch.stop()])
      await engine.close()
      await services.close()
    },
  }
})
