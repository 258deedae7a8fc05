import { hostname } from 'node:os'
import { env } from '../../core/env'
import { patiently } from '../../core/patience'
import { runProgram } from '../../core/program'
import { openServices } from '../context'
import { dockerWorkers, ofProject } from './docker-driver'
import { Engine } from './docker-engine'
import { startScaler } from './scaler'
import { ofStack, swarmWorkers } from './swarm-driver'
import { watchContainers } from './watch-containers'

/** The scaler process, for workers in containers. */
await runProgram('scaler', async (log) => {
  const services = await patiently(log, () => openServices('scaler'))
  const engine = new Engine(env().DOCKER_HOST)
  const self = hostname()
  const swarm = env().SCALER_DRIVER === 'swarm'
  const watch = watchContainers(services, engine, () => (swarm ? ofStack : ofProject)(engine, self))
  const driver = swarm ? swarmWorkers(engine, self) : dockerWorkers(engine, self, log)
  const scaler = startScaler(services, driver)
  log.info({ driver: env().SCALER_DRIVER }, 'Scaler started')
  return {
    farewellMs: 8_000,
    async stop() {
      await Promise.all([scaler.stop(), watch.stop()])
      await engine.close()
      await services.close()
    },
  }
})
