import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { build } from 'esbuild'
import { createConnection } from 'mysql2/promise'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openRedis } from '../../core/redis'
import { packageFile } from '../package-file'
import { findServers } from './binaries'
import { startGuardian } from './guardian'
import { freePort } from './ports'
import { redisAddress, startRedis } from './redis'
import { endProcess, signal } from './server'
import { openStack, type Stack } from './stack'
import { packageFolder } from './state'

let stateDir: string
let open: Stack[]

beforeEach(async () => {
  // A blank in the path, because people have them.
  stateDir = await mkdtemp(join(tmpdir(), 'orbweaver stack-'))
  open = []
})
afterEach(async () => {
  for (const stack of open) await stack.stop()
  await rm(stateDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
})

async function start(): Promise<Stack> {
  const stack = await openStack({ stateDir, say: () => {} })
  open.push(stack)
  return stack
}

const pids = async () => {
  const record = JSON.parse(await readFile(join(stateDir, 'stack.json'), 'utf8'))
  return [record.redis.pid, record.database.pid] as number[]
}
const alive = (pid: number) => signal(pid, 0)

test('the servers keep what they are told, and nobody gets in without the password', async () => {
  const { redisUrl, databaseUrl, authSecret } = await start()
  const redis = await openRedis(redisUrl)
  const settings = await redis.config(
    'GET',
    'appendonly',
    'maxmemory-policy',
    'save',
    'bind',
    'protected-mode',
  )
  redis.disconnect()
  expect(settings).toEqual(
    expect.arrayContaining([
      'appendonly',
      'yes',
      'maxmemory-policy',
      'noeviction',
      'save',
      '',
      'bind',
      '127.0.0.1',
    ]),
  )
  await expect(openRedis(redisUrl.replace(/:[^:@]*@/, ':wrong@'))).rejects.toThrow(/check the password/)

  const database = await createConnection(databaseUrl)
  const [rows] = await database.query(
    'SELECT @@innodb_flush_log_at_trx_commit AS flush, @@collation_server AS collation, CURRENT_USER() AS user',
  )
  const [users] = await database.query('SHOW GRANTS')
  await database.end()
  expect(rows).toEqual([{ flush: 1, collation: 'utf8mb4_bin', user: 'orbweaver@127.0.0.1' }])
  expect(JSON.stringify(users)).not.toContain('ALL PRIVILEGES ON *.*')
  const root = new URL(databaseUrl)
  root.username = 'root'
  root.password = ''
  await expect(createConnection(root.href)).rejects.toThrow(/denied/)

  expect(authSecret).toMatch(/^[0-9a-f]{64}$/)
  expect((await stat(join(stateDir, 'secrets.json'))).mode & 0o777).toBe(0o600)
  expect((await stat(stateDir)).mode & 0o777).toBe(0o700)
})

test('of two that start at once one starts the servers and the other joins; the last to leave stops them', async () => {
  const [one, two] = await Promise.all([start(), start()])
  expect([one.started, two.started].sort()).toEqual([false, true])
  expect(two.redisUrl).toBe(one.redisUrl)
  const servers = await pids()
  await one.stop()
  expect(servers.every(alive)).toBe(true)
  await two.stop()
  expect(servers.some(alive)).toBe(false)
})

test('a second start has the same addresses, secrets and data', async () => {
  const first = await start()
  const before = await openRedis(first.redisUrl)
  await before.set('kept', 'yes')
  before.disconnect()
  await first.stop()
  const second = await start()
  expect({ ...second, broken: 0, stop: 0 }).toEqual({ ...first, broken: 0, stop: 0 })
  const after = await openRedis(second.redisUrl)
  expect(await after.get('kept')).toBe('yes')
  after.disconnect()
})

test('a record of servers that are gone is not believed, even when their process ids are in use', async () => {
  await writeFile(
    join(stateDir, 'stack.json'),
    JSON.stringify({ redis: { pid: process.pid, port: 1 }, database: { pid: 2 ** 22 - 1, port: 1 } }),
  )
  const stack = await start()
  expect(stack.started).toBe(true)
  expect(await pids()).not.toContain(process.pid)
})

test('a server that dies is named with its log', async () => {
  const stack = await start()
  const [redis] = await pids()
  process.kill(redis!, 'SIGKILL')
  await expect(stack.broken).rejects.toThrow(/^Redis ended while in use\. The end of .*redis\.log says why:/)
})

test('a Redis that is slow to come up is left without a connection of its starter, which could otherwise not end', async () => {
  const { redis: real } = await findServers(packageFolder(), () => {})
  const slow = join(stateDir, 'slow-redis')
  await writeFile(slow, `#!/bin/sh\nsleep 0.7\nexec "${real.path}" "$@"\n`, { mode: 0o700 })
  const guardian = startGuardian()
  const port = await freePort()
  const server = await startRedis({
    binary: { ...real, path: slow },
    folder: join(stateDir, 'redis'),
    port,
    password: 'secret',
    logFile: join(stateDir, 'redis.log'),
    guardian,
  })
  try {
    // As long as the client waits at most before it connects again.
    await setTimeout(2_100)
    const redis = await openRedis(redisAddress(port, 'secret'))
    expect(
      String(await redis.client('LIST'))
        .trim()
        .split('\n'),
    ).toHaveLength(1)
    redis.disconnect()
  } finally {
    await endProcess(server.pid, 5_000)
    guardian.close()
  }
})

test('an append-only file that was cut is written anew at once, so that its torn end cannot come back', async () => {
  const stack = await start()
  const redis = await openRedis(stack.redisUrl)
  await redis.set('whole', '1')
  await redis.multi().set('torn', '1').set('torn', '2').exec()
  redis.disconnect()
  await stack.stop()
  const folder = join(stateDir, 'redis/appendonlydir')
  const files = await readdir(folder)
  const incr = files.find((file) => file.endsWith('.incr.aof'))!
  const { size } = await stat(join(folder, incr))
  await truncate(join(folder, incr), size - 3)

  const again = await openRedis((await start()).redisUrl)
  await vi.waitFor(async () => expect(await again.info('persistence')).toMatch(/aof_rewrites:1\r/), 10_000)
  expect(await again.mget('whole', 'torn')).toEqual(['1', null])
  again.disconnect()
  expect(await readdir(folder)).not.toContain(incr)
})

test('servers end with their starter, even when it is killed', async () => {
  const holder = packageFile(`node_modules/.orbweaver-holder-${process.pid}.mjs`)
  await build({
    stdin: {
      contents: `import { openStack } from './cli/stack/stack'
        await openStack({ stateDir: process.argv[2], say() {} })
        console.log('up'); setInterval(() => {}, 1e6)`,
      resolveDir: packageFile(''),
    },
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    outfile: holder,
  })
  const child = spawn(process.execPath, [holder, stateDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    await once(child.stdout, 'data')
    const servers = await pids()
    expect(servers.every(alive)).toBe(true)
    child.kill('SIGKILL')
    await vi.waitFor(() => expect(servers.some(alive)).toBe(false), 12_000)
  } finally {
    child.kill('SIGKILL')
    await rm(holder, { force: true })
  }
})
