import { mkdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { openRedis } from '../../core/redis'
import type { Binary } from './binaries'
import type { Guardian } from './guardian'
import { writePrivately } from './private-file'
import { type Server, startServer, untilReady } from './server'

export interface RedisOptions {
  binary: Binary
  /** Folder of its data, configuration and nothing else. */
  folder: string
  port: number
  password: string
  logFile: string
  guardian: Guardian
}

/** With the name of the default user, without which redis-cli cannot use the address. */
export const redisAddress = (port: number, password: string) =>
  `redis://default:${password}@127.0.0.1:${port}/0`

/**
 * A private Redis that keeps what it was told: append-only file, no eviction, local and with a password.
 *
 * The file is written anew from 1 GB on, not from 64 MB: after each fork Redis copies every page of memory that it
 * changes, and its scripts wait for that (up to 100 ms seen while a million URLs were enqueued). A file of 1 GB is read
 * in some ten seconds at the next start.
 */
export async function startRedis(options: RedisOptions): Promise<Server> {
  const { binary, folder, port, password, logFile } = options
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const quoted = JSON.stringify
  const file = join(folder, 'redis.conf')
  // In a file, because a command line shows the password to every user of the machine.
  await writePrivately(
    file,
    `bind 127.0.0.1
port ${port}
protected-mode yes
requirepass ${quoted(password)}
dir ${quoted(folder)}
pidfile ${quoted(join(folder, 'redis.pid'))}
logfile ""
daemonize no
set-proc-title no
appendonly yes
appendfsync everysec
auto-aof-rewrite-min-size 1gb
aof-load-truncated yes
save ""
maxmemory-policy noeviction
`,
  )
  const logStart = await stat(logFile).then(
    (file) => file.size,
    () => 0,
  )
  const server = await startServer({
    name: 'Redis',
    program: binary.path,
    args: [file],
    env: binary.env,
    port,
    logFile,
    guardian: options.guardian,
  })
  // A connection for each try: one that is told to connect while it waits to do so by itself forgets that wait, connects
  // once more after its end, and keeps the process alive.
  let redis: Redis | undefined
  try {
    await untilReady(
      server,
      async () => {
        redis ??= await openRedis(redisAddress(port, password))
        await redis.ping()
      },
      120_000,
    )
    // After a cut tail the file may end inside a MULTI, whose first half would be run together with later writes at
    // the next load; writing the file anew from memory removes it.
    const log = (await readFile(logFile)).subarray(logStart).toString()
    if (/aof-load-truncated|Truncating the AOF|short read while loading the AOF/i.test(log))
      await redis?.bgrewriteaof()
  } finally {
    redis?.disconnect()
  }
  return server
}
