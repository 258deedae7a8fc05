import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { findServers } from '../cli/stack/binaries'
import { databaseAddress, startDatabase } from '../cli/stack/database'
import { startGuardian } from '../cli/stack/guardian'
import { freePort } from '../cli/stack/ports'
import { redisAddress, startRedis } from '../cli/stack/redis'
import { endProcess } from '../cli/stack/server'
import { packageFolder } from '../cli/stack/state'

/** One real Redis and one real MariaDB or MySQL for the whole test run, empty, gone afterwards. */
export default async function setup(project: TestProject) {
  const folder = await mkdtemp(join(tmpdir(), 'orbweaver-test-'))
  const binaries = await findServers(packageFolder(), (message) => console.error(message))
  const password = 'of-this-test-run-only'
  const guardian = startGuardian()
  const part = async (name: 'redis' | 'database') => ({
    binary: binaries[name],
    folder: join(folder, name),
    port: await freePort(),
    password,
    logFile: join(folder, `${name}.log`),
    guardian,
  })
  const servers = await Promise.all([
    startRedis(await part('redis')),
    startDatabase({ ...(await part('database')), anyDatabase: true }),
  ])
  const [redis, database] = servers
  project.provide('redisBinary', { path: binaries.redis.path, env: { ...binaries.redis.env } })
  project.provide('redisUrl', redisAddress(redis.port, password))
  project.provide('mysqlUrl', databaseAddress(database.port, password).replace(/\/\w+$/, ''))
  return async () => {
    for (const server of servers) {
      await endProcess(server.pid, 0)
      guardian.forget(server.pid)
    }
    guardian.close()
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }
}

declare module 'vitest' {
  export interface ProvidedContext {
    redisUrl: string
    /** For tests that need a Redis of their own. */
    redisBinary: { path: string; env: NodeJS.ProcessEnv }
    mysqlUrl: string
  }
}
