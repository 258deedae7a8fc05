import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { buildDist } from '../cli/build.mjs'
import { workerProcesses } from '../cli/process-driver'
import { startGuardian } from '../cli/stack/guardian'
import { lockFolder } from '../cli/stack/lock.mjs'
import { openLog } from '../core/log'
import { dockerWorkers } from '../server/scaler/docker-driver'
import { Engine } from '../server/scaler/docker-engine'
import { KubernetesApi } from '../server/scaler/kubernetes-api'
import { kubernetesWorkers } from '../server/scaler/kubernetes-driver'
import { openRig } from './crawl-rig'
import { type DriverRig, driverContract } from './driver-contract'
import { KubernetesCluster } from './kubernetes-cluster'

/** One contract, all drivers; that of Swarm is held to it in tests/swarm.test.ts, where there is a swarm. */
driverContract('process', processes, { servesAnyQueue: true })
driverContract('kubernetes', kubernetes)

const exec = promisify(execFile)
const noEngine = await exec('docker', ['info'], { timeout: 20_000 }).then(
  () => exec('docker', ['compose', 'version']).then(() => ''),
  (error: Error) => `no Docker engine answers (${error.message.split('\n')[0]})`,
)
driverContract('docker', compose, { missing: noEngine })

/** Real workers on a real Redis and database. */
async function processes(): Promise<DriverRig> {
  const unlock = await lockFolder(`${process.cwd()}#build`, () => {})
  await buildDist(process.cwd(), () => {}).finally(unlock)
  const rig = await openRig()
  const folder = await mkdtemp(join(tmpdir(), 'orbweaver-drivers-'))
  const guardian = startGuardian()
  const driver = workerProcesses({ logFolder: folder, drainSeconds: 5, guardian, ended: () => {} })
  const count = async (state: string) => {
    const [rows] = await rig.services.database.pool.query(
      'SELECT id FROM workers WHERE queue = ? AND state = ? ORDER BY started_at',
      [rig.queue, state],
    )
    return (rows as { id: string }[]).map(({ id }) => id)
  }
  return {
    driver,
    queue: rig.queue,
    running: () => count('running'),
    drained: async () => (await count('stopped')).length,
    async close() {
      await driver.stop()
      guardian.close()
      await rig.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function kubernetes(): Promise<DriverRig> {
  const cluster = await KubernetesCluster.start('a_queue')
  const api = await KubernetesApi.open(cluster.url, cluster.folder)
  return {
    driver: kubernetesWorkers(api),
    queue: 'a_queue',
    running: async () => cluster.running(),
    drained: async () => cluster.ended.filter(({ told, code }) => told && code === 0).length,
    cutOff: async () => kubernetesWorkers(await KubernetesApi.open('https://127.0.0.1:9', cluster.folder)),
    async close() {
      await api.close()
      await cluster.close()
    },
  }
}

/** A small Compose project of its own, with containers that hold something for a moment when they are told to end. */
async function compose(): Promise<DriverRig> {
  const project = `orbweaver-driver-${process.pid}`
  const folder = await mkdtemp(join(tmpdir(), 'orbweaver-drivers-'))
  const script =
    "process.on('SIGTERM', () => setTimeout(() => process.exit(0), 300)); setInterval(() => {}, 1000)"
  const service = { image: 'node:24-bookworm-slim', command: ['node', '-e', script] }
  const file = join(folder, 'compose.json')
  await writeFile(
    file,
    JSON.stringify({
      services: {
        scaler: service,
        worker: {
          ...service,
          environment: { QUEUE_KEY: 'a_queue' },
          labels: { 'orbweaver.workers': 'http' },
        },
      },
    }),
  )
  const docker = async (...args: string[]) => (await exec('docker', args)).stdout.trim()
  const run = (...args: string[]) => docker('compose', '--project-name', project, '-f', file, ...args)
  await run('up', '-d')
  const self = await run('ps', '-q', 'scaler')
  const engine = new Engine('unix:///var/run/docker.sock')
  const log = openLog('test')
  // Those that were removed leave nothing to look at, so their ends are taken from the engine's events.
  const since = String(Math.floor(Date.now() / 1000))
  const filter = ['--filter', `label=com.docker.compose.project=${project}`]
  return {
    driver: dockerWorkers(engine, self, log),
    queue: 'a_queue',
    running: async () => (await run('ps', '-q', 'worker')).split('\n').filter((id) => id !== ''),
    async drained() {
      const until = String(Math.ceil(Date.now() / 1000))
      const of = [...filter, '--filter', 'event=die', '--format', '{{.Actor.Attributes.exitCode}}']
      const ends = await docker('events', '--since', since, '--until', until, ...of)
      return ends.split('\n').filter((code) => code === '0').length
    },
    cutOff: async () => dockerWorkers(new Engine(`unix://${folder}/none.sock`), self, log),
    async close() {
      await engine.close()
      await run('down', '--timeout', '2')
      await rm(folder, { recursive: true, force: true })
    },
  }
}
