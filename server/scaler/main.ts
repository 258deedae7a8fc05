import { hostname } from 'node:os'
import { env } from '../../core/env'
import type { Log } from '../../core/log'
import { patiently } from '../../core/patience'
import { runProgram } from '../../core/program'
import { openServices, type Services } from '../context'
import { dockerWorkers, ofProject } from './docker-driver'
import { Engine } from './docker-engine'
import type { Driver } from './driver'
import { KubernetesApi } from './kubernetes-api'
import { kubernetesWorkers } from './kubernetes-driver'
import { startScaler } from './scaler'
import { ofStack, swarmWorkers } from './swarm-driver'
import { watchContainers } from './watch-containers'
import { watchPods } from './watch-pods'

interface Part {
  stop(): Promise<void>
}

/** The scaler process, for workers in containers. */
await runProgram('scaler', async (log) => {
  const services = await patiently(log, () => openServices('scaler'))
  const kubernetes = env().SCALER_DRIVER === 'kubernetes'
  const { driver, watch, close } = await (kubernetes ? inKubernetes(services) : onEngine(services, log))
  const scaler = startScaler(services, driver)
  log.info({ driver: env().SCALER_DRIVER }, 'Scaler started')
  return {
    farewellMs: 8_000,
    async stop() {
      await Promise.all([scaler.stop(), watch.stop()])
      await close()
      await services.close()
    },
  }
})

interface Place {
  driver: Driver
  watch: Part
  close(): Promise<void>
}

async function inKubernetes(services: Services): Promise<Place> {
  const api = await KubernetesApi.open()
  return { driver: kubernetesWorkers(api), watch: watchPods(services, api), close: () => api.close() }
}

async function onEngine(services: Services, log: Log): Promise<Place> {
  const engine = new Engine(env().DOCKER_HOST)
  const self = hostname()
  const swarm = env().SCALER_DRIVER === 'swarm'
  return {
    driver: swarm ? swarmWorkers(engine, self) : dockerWorkers(engine, self, log),
    watch: watchContainers(services, engine, () => (swarm ? ofStack : ofProject)(engine, self)),
    close: () => engine.close(),
  }
}
