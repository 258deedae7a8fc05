import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

/** One real Redis and one real MariaDB for the whole test run. */
export default async function setup(project: TestProject) {
  const folder = await mkdtemp(join(tmpdir(), 'orbweaver-test-'))
  const redisPort = await freePort()
  const redis = spawn(
    'redis-server',
    [
      '--port',
      String(redisPort),
      '--bind',
      '127.0.0.1',
      '--dir',
      folder,
      '--appendonly',
      'yes',
      '--save',
      '',
    ],
    { stdio: 'ignore' },
  )
  const data = join(folder, 'mysql')
  const install = spawn(
    'mariadb-install-db',
    [
      '--no-defaults',
      `--datadir=${data}`,
      '--auth-root-authentication-method=normal',
      '--skip-test-db',
      '--user=root',
    ],
    { stdio: 'ignore' },
  )
  await once(install, 'exit')
  const mysqlPort = await freePort()
  const mysql = spawn(
    'mariadbd',
    [
      '--no-defaults',
      `--datadir=${data}`,
      '--user=root',
      `--port=${mysqlPort}`,
      '--bind-address=127.0.0.1',
      `--socket=${join(folder, 's')}`,
      '--innodb-flush-log-at-trx-commit=1',
      '--innodb-buffer-pool-size=256M',
    ],
    { stdio: 'ignore' },
  )
  project.provide('redisUrl', `redis://127.0.0.1:${redisPort}/0`)
  project.provide('mysqlUrl', `mysql://root@127.0.0.1:${mysqlPort}`)
  return async () => {
    mysql.kill('SIGKILL')
    redis.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  return port
}

declare module 'vitest' {
  export interface ProvidedContext {
    redisUrl: string
    mysqlUrl: string
  }
}
