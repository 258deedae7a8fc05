import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createConnection } from 'mysql2/promise'
import { inject } from 'vitest'
import { findServers } from '../cli/stack/binaries'
import { startGuardian } from '../cli/stack/guardian'
import { freePort } from '../cli/stack/ports'
import { redisAddress, startRedis } from '../cli/stack/redis'
import { endProcess, type Server } from '../cli/stack/server'
import { packageFolder } from '../cli/stack/state'
import { migrate } from '../drizzle/migrate'

/** A queue name of the test's own, so that test files may run side by side on one Redis. */
export const freshName = (prefix = 'q') => `${prefix}_${randomBytes(4).toString('hex')}`

/** Address of the Redis that the test run started. */
export const testRedisUrl = () => inject('redisUrl')

/** A new, migrated database; drop it with `drop`. */
export async function freshDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const name = freshName('t')
  const server = inject('mysqlUrl')
  await statement(server, `CREATE DATABASE ${name}`)
  const url = `${server}/${name}`
  await migrate(url, 'drizzle/migrations')
  return { url, drop: () => statement(server, `DROP DATABASE ${name}`) }
}

/** A Redis of the test's own, for what would disturb the shared one: other settings, or its death. */
export async function ownRedis(): Promise<{ url: string; server: Server; stop(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'orbweaver-redis-'))
  const { redis: binary } = await findServers(packageFolder(), () => {})
  const port = await freePort()
  const password = randomBytes(16).toString('hex')
  const guardian = startGuardian()
  const server = await startRedis({ binary, folder, port, password, logFile: join(folder, 'log'), guardian })
  return {
    url: redisAddress(port, password),
    server,
    async stop() {
      await endProcess(server.pid, 0)
      guardian.forget(server.pid)
      guardian.close()
      await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
    },
  }
}

async function statement(server: string, sql: string): Promise<void> {
  const connection = await createConnection({ uri: server, multipleStatements: false })
  await connection.query(sql).finally(() => connection.end())
}
