import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv, promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { packageFile } from '../cli/package-file'
import { childEnv } from '../core/env'
import { Engine } from '../server/scaler/docker-engine'
import { swarmWorkers } from '../server/scaler/swarm-driver'
import { type DriverRig, driverContract } from './driver-contract'
import { ENGINE_TURN_MS, engineTurn } from './engine-turn'
import { until } from './until'

/** deploy/swarm on a swarm of one node, where there is an engine that belongs to none yet. */
const exec = promisify(execFile)
const PAGES = 60
const stack = `orbweaver-swarm-${process.pid}`
let folder: string
let environment: NodeJS.ProcessEnv
let endTurn: (() => Promise<void>) | undefined

async function docker(...args: string[]): Promise<string> {
  const { stdout } = await exec('docker', args, {
    cwd: packageFile(''),
    env: environment ?? childEnv(),
    maxBuffer: 64 * 1024 * 1024,
  })
  return stdout.trim()
}

async function inside(service: string, ...command: string[]): Promise<string> {
  const filter = `label=com.docker.swarm.service.name=${stack}_${service}`
  const [id] = (await docker('ps', '-q', '--filter', filter)).split('\n')
  return docker('exec', id!, ...command)
}
const SQL =
  'MYSQL_PWD=$MYSQL_PASSWORD mysql -N --protocol=tcp -h 127.0.0.1 -u $MYSQL_USER $MYSQL_DATABASE -e "$0"'
const rows = async (sql: string) =>
  (await inside('mysql', 'sh', '-c', SQL, sql)).split('\n').filter((line) => line !== '')

const SITE = `const asked = []
require('node:http').createServer((q, a) => {
  if (q.url === '/asked') return a.end(JSON.stringify(asked))
  const n = Number(/^\\/(\\d+)$/.exec(q.url)?.[1] ?? -1)
  if (!(n >= 0 && n < ${PAGES})) return a.writeHead(404).end()
  asked.push(q.url)
  const links = [3*n+1, 3*n+2, 3*n+3].filter((m) => m < ${PAGES})
  setTimeout(() => a.writeHead(200, { 'content-type': 'text/html' }).end(links.map((m) => '<a href="/' + m + '">x</a>').join('')), 500)
}).listen(80)`

const engine = await docker('info', '--format', '{{.Swarm.LocalNodeState}}').then(
  (state) =>
    state === 'inactive' ? '' : 'the Docker engine belongs to a swarm already, which is left alone',
  (error: Error) => `no Docker engine answers (${error.message.split('\n')[0]})`,
)

describe('a stack on a swarm of one node', () => {
  beforeAll(async () => {
    if (engine) return
    endTurn = await engineTurn()
    folder = await mkdtemp(join(tmpdir(), 'orbweaver-swarm-'))
    await exec(process.execPath, [packageFile('cli/init.mjs'), folder])
    const { stdout } = await exec('sh', ['-c', 'ulimit -Hn'])
    environment = {
      ...childEnv(),
      ...parseEnv(await readFile(join(folder, '.env'), 'utf8')),
      NOFILE: String(Math.min(65_535, Number(stdout) || 65_535)),
      VERSION: stack,
      ALLOW_PRIVATE: 'true',
      DOWNLOAD_DELAY: '0',
      DRAIN_SECONDS: '5',
      WORKER_GRACE: '12s',
      STARTUP_SECONDS: '240',
    }
    // The console is no other than under Compose, and a small machine has little room.
    await writeFile(
      join(folder, 'test.yaml'),
      `version: "3.8"
services:
  web: { deploy: { replicas: 0 } }
  scheduler: { deploy: { replicas: 1 } }
  worker: { deploy: { replicas: 1 } }
  site:
    deploy: { endpoint_mode: dnsrr }
    image: node:24-bookworm-slim
    init: true
    command: ['node', '-e', ${JSON.stringify(SITE).replaceAll('$', '$$$$')}]
`,
    )
    await docker('swarm', 'init', '--advertise-addr', '127.0.0.1')
    await docker(
      'node',
      'update',
      '--label-add',
      'orbweaver.data=true',
      await docker('info', '-f', '{{.Swarm.NodeID}}'),
    )
    for (const target of ['worker', 'scheduler', 'scaler'])
      await docker(
        'build',
        '-q',
        '-f',
        'Dockerfile.worker',
        '--target',
        target,
        '-t',
        `orbweaver-${target}:${stack}`,
        '.',
      )
    const files = ['deploy/swarm/stack.yaml', join(folder, 'test.yaml')].flatMap((file) => ['-c', file])
    await docker('stack', 'deploy', '--resolve-image', 'never', ...files, stack)
  }, ENGINE_TURN_MS + 540_000)
  afterAll(async () => {
    if (engine || !folder) return
    const tidy = (...args: string[]) => docker(...args).catch(() => '')
    await tidy('stack', 'rm', stack)
    const filter = `label=com.docker.stack.namespace=${stack}`
    await until('the containers are gone', 90, async () => !(await docker('ps', '-aq', '--filter', filter)))
    await tidy('volume', 'rm', `${stack}_redis`, `${stack}_mysql`)
    await tidy('swarm', 'leave', '--force')
    for (const target of ['worker', 'scheduler', 'scaler'])
      await tidy('image', 'rm', `orbweaver-${target}:${stack}`)
    await rm(folder, { recursive: true, force: true })
    await endTurn?.()
  }, 240_000)

  const replicas = (service: string) =>
    docker('service', 'ls', '--filter', `name=${stack}_${service}`, '--format', '{{.Replicas}}')
  const ask = async (wanted: number) => {
    await rows(
      `INSERT INTO scale_requests (queue, kind, previous, wanted, state, author, created_at) VALUES ('crawl_queue', 'http', 0, ${wanted}, 'waiting', 'test', UTC_TIMESTAMP(3))`,
    )
    return until(`${wanted} workers`, 60, async () => {
      const [now] = await rows('SELECT state, detail FROM scale_requests ORDER BY id DESC LIMIT 1')
      return !/^(waiting|running)/.test(now!) && now
    })
  }
  const working = (n: number) =>
    until(`${n} work`, 90, async () => {
      const [alive] = await rows("SELECT COUNT(*) FROM workers WHERE state = 'running'")
      return alive === String(n) && (await replicas('worker')) === `${n}/${n}`
    })

  test('the stack comes up by itself, and asked for 3, then 1 workers in the middle of a crawl, the scaler has the service at that: nothing lost, nothing twice', async (context) => {
    if (engine) context.skip(engine)
    await until('the stack works', 300, async () => {
      const [alive] = await rows("SELECT COUNT(*) FROM workers WHERE state = 'running'")
      return alive === '1'
    })
    await inside('redis', 'redis-cli', 'RPUSH', 'crawl_queue', 'http://site/0')
    const stored = () => rows("SELECT url FROM pages WHERE state = 'done'")
    await until('the first pages', 90, async () => (await stored()).length > 5)
    expect(await ask(3)).toBe('done\t2 started')
    await working(3)
    expect(await ask(1)).toBe('done\t2 told to drain')
    await working(1)
    const urls = await until('the last pages', 120, async () => {
      const all = await stored()
      return all.length >= PAGES && all
    })
    const tree = Array.from({ length: PAGES }, (_, n) => `/${n}`).toSorted()
    expect(urls.toSorted()).toEqual(tree.map((path) => `http://site${path}`))
    const said = await inside(
      'site',
      'node',
      '-e',
      "fetch('http://127.0.0.1/asked').then((a) => a.text()).then(console.log)",
    )
    expect((JSON.parse(said) as string[]).toSorted()).toEqual(tree)
    expect(await ask(1)).toBe('done\tnothing to change')
  }, 500_000)

  driverContract('swarm', smallStack, { missing: engine })
})

/** A stack of its own in the same swarm, with containers that hold something for a moment when they are told to end. */
async function smallStack(): Promise<DriverRig> {
  const name = `${stack}-small`
  const script =
    "process.on('SIGTERM', () => setTimeout(() => process.exit(0), 300)); setInterval(() => {}, 1000)"
  const service = { image: 'node:24-bookworm-slim', command: ['node', '-e', script] }
  const file = join(folder, 'small.json')
  await writeFile(
    file,
    JSON.stringify({
      version: '3.8',
      services: {
        scaler: service,
        worker: {
          ...service,
          environment: { QUEUE_KEY: 'a_queue' },
          deploy: { replicas: 1, labels: { 'orbweaver.workers': 'http' } },
        },
      },
    }),
  )
  await docker('stack', 'deploy', '--resolve-image', 'never', '-c', file, name)
  const of = (service: string) => ['--filter', `label=com.docker.swarm.service.name=${name}_${service}`]
  const up = (service: string) => docker('ps', '-q', '--no-trunc', ...of(service))
  await until('one worker', 60, () => up('worker'))
  const self = await until('the scaler', 60, () => up('scaler'))
  const engine = new Engine('unix:///var/run/docker.sock')
  const since = String(Math.floor(Date.now() / 1000))
  return {
    driver: swarmWorkers(engine, self),
    queue: 'a_queue',
    running: async () => (await up('worker')).split('\n').filter((id) => id !== ''),
    async drained() {
      const until = String(Math.ceil(Date.now() / 1000))
      const format = ['--filter', 'event=die', '--format', '{{.Actor.Attributes.exitCode}}']
      const ends = await docker('events', '--since', since, '--until', until, ...of('worker'), ...format)
      return ends.split('\n').filter((code) => code === '0').length
    },
    cutOff: async () => swarmWorkers(new Engine(`unix://${folder}/none.sock`), self),
    async close() {
      await engine.close()
      await docker('stack', 'rm', name)
    },
  }
}
