import { once } from 'node:events'
import { chmod, chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { env, setEnv } from '../core/env'
import { connectRedis } from '../core/redis'
import { openDatabase } from '../drizzle/database'
import { ensureQueue } from '../server/services/queues'
import { type CrawlRig, openRig } from '../tests/crawl-rig'
import { freshName, ownRedis } from '../tests/services'
import { registerWorker, retireWorker } from '../worker/sink/fleet'
import { buildDist } from './build.mjs'
import { databaseReady, zone } from './doctor-checks'
import { dockerSocket } from './doctor-docker'
import { inboxes } from './doctor-inboxes'
import { composeLimits, containerMemory, machineMemory, memory } from './doctor-memory'
import { registrySpeed } from './doctor-registry'
import { rendering } from './doctor-rendering'
import { packageFile } from './package-file'
import { lockFolder } from './stack/lock.mjs'

/** Each pitfall of an installation is provoked, and doctor must name it and its remedy. */
let rig: CrawlRig
let redis: Awaited<ReturnType<typeof ownRedis>>
let folder: string
const servers: { close(): unknown }[] = []
beforeAll(async () => {
  const unlock = await lockFolder(`${process.cwd()}#build`, () => {})
  await buildDist(process.cwd(), () => {}).finally(unlock)
  rig = await openRig()
  redis = await ownRedis()
  folder = await mkdtemp(join(tmpdir(), 'orbweaver-doctor-'))
})
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})
afterAll(async () => {
  await redis.stop()
  await rig.close()
  await rm(folder, { recursive: true, force: true })
})

async function listening(server: Server, where: string | number): Promise<Server> {
  servers.push(server)
  server.listen(where)
  await once(server, 'listening')
  return server
}
const portOf = (server: Server) => (server.address() as AddressInfo).port

/** As an ordinary user, whoever runs the tests; root may open everything. */
async function asNobody<T>(work: () => Promise<T>): Promise<T> {
  const root = process.geteuid!() === 0
  if (root) process.seteuid!(65_534)
  return work().finally(() => root && process.seteuid!(0))
}

test('a Docker socket that refuses this user is told with its group, and why to sign in again', async () => {
  const path = join(folder, 'docker.sock')
  await listening(createTcpServer(), path)
  if (process.geteuid!() === 0) await chown(path, 0, 54_321)
  await chmod(path, process.geteuid!() === 0 ? 0o660 : 0)
  await chmod(folder, 0o755)
  const gid = process.geteuid!() === 0 ? 54_321 : process.getegid!()
  const groupFile = join(folder, 'group')
  await writeFile(groupFile, `root:x:0:\ndocker:x:${gid}:mia,lin\n`)
  const look = (name: string) =>
    asNobody(() => dockerSocket(`unix://${path}`, { name, groups: [100], groupFile }))
  expect(await look('zoe')).toEqual({
    state: 'fail',
    detail: `Permission denied on the Docker socket ${path}: zoe is not in its group, docker; run sudo usermod -aG docker zoe, then sign out and in again, because groups are read at sign-in only.`,
  })
  expect(await look('lin')).toEqual({
    state: 'fail',
    detail: `Permission denied on the Docker socket ${path}: lin was added to the group docker after signing in, and groups are read at sign-in only; sign out and in again, or run newgrp docker for this terminal.`,
  })
})

test('a socket that lets the user in, and a machine without one, are in order', async () => {
  const path = join(folder, 'open.sock')
  await listening(createTcpServer(), path)
  expect(await dockerSocket(`unix://${path}`)).toMatchObject({ state: 'ok' })
  expect(await dockerSocket(`unix://${folder}/absent.sock`)).toMatchObject({ state: 'ok' })
})

test('a package registry behind a slow link, or none at all, is told with the mirror to name', async () => {
  const asked: string[] = []
  const registry = async (bytes: number) => {
    const server = createServer((request, answer) => {
      asked.push(request.url!)
      const timer = setInterval(() => answer.write(Buffer.alloc(bytes)), 50)
      answer.on('close', () => clearInterval(timer))
    })
    return `http://127.0.0.1:${portOf(await listening(server, 0))}/npm/`
  }
  expect(await registrySpeed(await registry(2_000), '1.2.3')).toMatchObject({
    state: 'warn',
    detail: expect.stringMatching(/is slow \(\d+ kB\/s\); name a mirror .*NPM_REGISTRY=https:/),
  })
  expect(await registrySpeed(await registry(200_000), '1.2.3')).toMatchObject({ state: 'ok' })
  expect(asked).toEqual(Array(2).fill('/npm/next/-/next-1.2.3.tgz'))
  const closed = await listening(createTcpServer(), 0)
  const port = portOf(closed)
  closed.close()
  expect(await registrySpeed(`http://127.0.0.1:${port}`, '1.2.3')).toMatchObject({
    state: 'warn',
    detail: expect.stringMatching(/does not answer .*name a mirror/),
  })
})

const GB = 1024 ** 3
const limits = async (variables: Record<string, string> = {}) =>
  composeLimits(await readFile(packageFile('compose.yaml'), 'utf8'), variables)
const plan = (concurrency: number, machine = 6 * GB) => ({
  queues: [{ name: 'crawl_queue', concurrency }],
  bodyBytes: 10 * 1024 * 1024,
  machine,
})

test('memory that a worker may need beyond its limit is told with the sum, and what to set', async () => {
  expect(containerMemory(plan(16), await limits())).toMatchObject({ state: 'ok' })
  expect(containerMemory(plan(17), await limits())).toEqual({
    state: 'fail',
    detail:
      'A worker of the queue crawl_queue may need 120 + 17 pages × 4 × 10 = 800 MB, more than its memory limit of 768 MB; set WORKER_MEMORY=800m in .env, or let the queue fetch 16 at once.',
  })
  expect(containerMemory(plan(17), await limits({ WORKER_MEMORY: '1g' }))).toMatchObject({ state: 'ok' })
})

test('limits that together exceed the machine are told with the sum', async () => {
  expect(containerMemory(plan(16, 4 * GB), await limits())).toMatchObject({
    state: 'fail',
    detail: expect.stringMatching(
      /^The memory limits are more than this machine has: redis 1024 \+ mysql 1536 \+ .* = \d+ MB of 4096; lower them/,
    ),
  })
  expect(machineMemory(plan(64, 4 * GB), 4)).toMatchObject({
    state: 'warn',
    detail: expect.stringMatching(/^The workers may need 4 × .* lower WORKERS/),
  })
})

test('a queue that the console lets fetch more than a worker’s memory holds is found in the record', async () => {
  await rig.services.database.pool.query('UPDATE queues SET concurrency = 200 WHERE name = ?', [rig.queue])
  setEnv({ WORKER_MEMORY: '768m' })
  expect(await memory(rig.services.database)).toMatchObject({
    state: 'fail',
    detail: expect.stringMatching(`^A worker of the queue ${rig.queue} may need .* = 8120 MB`),
  })
  await rig.services.database.pool.query('UPDATE queues SET concurrency = 8 WHERE name = ?', [rig.queue])
})

const look = async () => {
  const connection = connectRedis(redis.url)
  await connection.connect()
  return inboxes(connection, rig.services.database).finally(() => connection.disconnect())
}
const push = async (list: string) => {
  const connection = connectRedis(redis.url)
  await connection.connect()
  await connection.rpush(list, 'http://127.0.0.1:1/a')
  return async () => {
    await connection.del(list)
    connection.disconnect()
  }
}

test('entries under a name that no worker serves are found, be it a queue’s or a misspelt one', async () => {
  expect(await look()).toMatchObject({ state: 'ok' })
  const clear = await push(rig.queue)
  expect(await look()).toEqual({
    state: 'fail',
    detail: `The inbox ${rig.queue} holds 1 entries, and no worker serves it (no worker is alive); start some with QUEUE_KEY=${rig.queue}, or push to the name that workers serve.`,
  })
  await clear()
  const misspelt = freshName('Crawl_Queue')
  const clearOther = await push(misspelt)
  expect(await look()).toMatchObject({
    state: 'fail',
    detail: expect.stringMatching(
      `^The list ${misspelt} holds 1 entries, and no queue has that name .* push to the name that workers serve`,
    ),
  })
  await clearOther()
})

test('live workers that take nothing are found: their connections are dead or lead to another Redis', async () => {
  // It serves the rig's Redis, and doctor and the inbox are at the other.
  rig.workers(1)
  await vi.waitUntil(
    async () => {
      const [rows] = await rig.services.database.pool.query("SELECT 1 FROM workers WHERE state = 'running'")
      return (rows as unknown[]).length > 0
    },
    { timeout: 30_000, interval: 100 },
  )
  const clear = await push(rig.queue)
  expect(await look()).toEqual({
    state: 'fail',
    detail: `The inbox ${rig.queue} holds 1 entries, and its 1 live workers took none within 7 s: their connections to this Redis are dead, or lead to another; restart them, and compare their REDIS_URL with this one.`,
  })
  await clear()
})

test('a queue that is rendered and has no worker with Chromium is told, and a browser without its sandbox', async () => {
  const { pool } = rig.services.database
  expect(await rendering(rig.services.database)).toMatchObject({ state: 'ok' })
  const queue = freshName('rendered')
  await ensureQueue(rig.services, queue, {}, 'render')
  expect(await rendering(rig.services.database)).toEqual({
    state: 'warn',
    detail: `No worker with Chromium serves ${queue}; run: docker compose --profile render up -d, or ask for one in the console.`,
  })
  const worker = { id: 'r1', kind: 'render', queue, hostname: 'far', pid: 1 } as const
  await registerWorker(pool, worker, 'Chromium runs without its own sandbox')
  expect(await rendering(rig.services.database)).toMatchObject({
    state: 'warn',
    detail: expect.stringMatching(/^Chromium runs without its own sandbox on far: .* not root/),
  })
  await retireWorker(pool, worker)
  await registerWorker(pool, { ...worker, id: 'r2' })
  expect(await rendering(rig.services.database)).toMatchObject({ state: 'ok' })
  await retireWorker(pool, { ...worker, id: 'r2' })
})

test('hours that count in UTC because nobody set TZ are told, and schedules that kept UTC', async () => {
  setEnv({ TZ: '' })
  expect(await zone(rig.services.database)).toMatchObject({
    state: 'warn',
    detail: expect.stringMatching(/^TZ is not set, so schedules .* fire by UTC .*; set TZ=/),
  })
  setEnv({ TZ: 'Asia/Shanghai' })
  expect(await zone(rig.services.database)).toEqual({ state: 'ok', detail: 'Asia/Shanghai' })
  await rig.services.database.pool.query(
    "INSERT INTO schedules (spider_id, queue, name, cron, zone, decided_until, created_at, updated_at) VALUES (1, ?, 'daily', '0 9 * * *', 'UTC', UTC_TIMESTAMP(3), UTC_TIMESTAMP(3), UTC_TIMESTAMP(3))",
    [rig.queue],
  )
  expect(await zone(rig.services.database)).toMatchObject({
    state: 'warn',
    detail: expect.stringMatching(/^TZ is Asia\/Shanghai, but 1 schedules fire by UTC/),
  })
  await rig.services.database.pool.query('DELETE FROM schedules')
  setEnv({ TZ: 'UTC' })
})

test('a MySQL that does not serve yet is told as not ready, and a wrong password as what it is', async () => {
  // As behind a port that Docker publishes while the server still starts: the connection is taken and dropped.
  const starting = createTcpServer((socket) => socket.destroy())
  const url = `mysql://orbweaver:secret@127.0.0.1:${portOf(await listening(starting, 0))}/orbweaver`
  const early = openDatabase(url, 1)
  const found = await databaseReady(early, url)
  await early.close()
  expect(found).toMatchObject({
    state: 'fail',
    detail: expect.stringMatching(
      /^The database at .* is not ready \(.+\): a first start takes up to a minute/,
    ),
  })
  expect(found.detail).not.toContain('secret')
  const wrong = new URL(env().DATABASE_URL!)
  wrong.password = 'wrong'
  const refusing = openDatabase(wrong.href, 1)
  await expect(databaseReady(refusing, wrong.href)).rejects.toThrow(/Access denied .*check user and password/)
  await refusing.close()
})
