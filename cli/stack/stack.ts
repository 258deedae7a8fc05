import { randomBytes } from 'node:crypto'
import { chmod, mkdir, readdir, realpath, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { databaseUrl, env, redisUrl } from '../../core/env'
import { sentence } from '../../core/errors'
import { connectRedis } from '../../core/redis'
import { type Binary, findServers } from './binaries'
import { databaseAddress, startDatabase } from './database'
import { type Guardian, startGuardian } from './guardian'
import { lockFolder } from './lock.mjs'
import { freePort } from './ports'
import { diskFault, readJson, requireSpace, writePrivately } from './private-file'
import { redisAddress, startRedis } from './redis'
import { type Secrets, stackSecrets } from './secrets'
import { endProcess, failure, runs, type Server, signal } from './server'
import { packageFolder } from './state'

/**
 * The embedded stack: real servers below the state folder, private to it.
 *
 * Whoever uses it is registered in `users/` by process id. The first starts the servers, later ones join them, and the
 * last to leave stops them. All three steps happen under the folder's lock.
 */
export interface Stack {
  redisUrl: string
  databaseUrl: string
  authSecret: string
  /** Whether this call started servers, rather than joining or being given some. */
  started: boolean
  /** Rejects with a sentence for people when a server that this call started ends unasked; never resolves. */
  broken: Promise<never>
  /**
   * Leaves; the last to leave stops the servers. What still runs after `graceMs` is killed, which costs nothing but a
   * longer start the next time: both keep what they have acknowledged.
   */
  stop(graceMs?: number): Promise<void>
}

export interface StackOptions {
  stateDir: string
  say(message: string): void
}

const recorded = z.object({ pid: z.number(), port: z.number() })
const recordSchema = z.object({ redis: recorded.optional(), database: recorded.optional() })
type StackRecord = z.infer<typeof recordSchema>
type Part = keyof StackRecord

/** Time for a server to end in order, in milliseconds. */
const STOP_MS = 8_000

export async function openStack(options: StackOptions): Promise<Stack> {
  const given = givenAddresses()
  const folder = await makeFolder(options.stateDir)
  const unlock = await lockFolder(folder, () => options.say('Waiting for another start or stop to finish …'))
  try {
    const secrets = await stackSecrets(folder)
    const parts = (['redis', 'database'] as const).filter((part) => !given[part])
    const opened = parts.length > 0 ? await openParts(options, folder, secrets, parts) : NOTHING
    const addresses = {
      redisUrl: given.redis ?? redisAddress(opened.ports.redis!, secrets.redisPassword),
      databaseUrl: given.database ?? databaseAddress(opened.ports.database!, secrets.databasePassword),
      authSecret: env().AUTH_SECRET ?? secrets.authSecret,
    }
    // For people and their tools: `redis-cli -u`, `mariadb`, a script that pushes URLs.
    const lines = `REDIS_URL=${addresses.redisUrl}\nDATABASE_URL=${addresses.databaseUrl}\n`
    if (opened.started) await writePrivately(join(folder, 'env'), lines)
    return { ...addresses, started: opened.started, broken: opened.broken, stop: opened.stop }
  } finally {
    await unlock()
  }
}

/** What is opened when both servers are given. */
const NOTHING: Opened = {
  ports: {},
  started: false,
  broken: new Promise(() => {}),
  stop: async () => {},
}

function givenAddresses(): { redis?: string; database?: string } {
  const { REDIS_URL, REDIS_HOST, DATABASE_URL, MYSQL_HOST } = env()
  return {
    redis: REDIS_URL || REDIS_HOST ? redisUrl() : undefined,
    database: DATABASE_URL || MYSQL_HOST ? databaseUrl() : undefined,
  }
}

async function makeFolder(stateDir: string): Promise<string> {
  try {
    await mkdir(join(stateDir, 'users'), { recursive: true, mode: 0o700 })
    await chmod(stateDir, 0o700)
    await mkdir(join(stateDir, 'logs'), { recursive: true, mode: 0o700 })
    return await realpath(stateDir)
  } catch (error) {
    throw diskFault(error, stateDir)
  }
}

interface Opened extends Pick<Stack, 'started' | 'broken' | 'stop'> {
  ports: Partial<Record<Part, number>>
}

async function openParts(
  options: StackOptions,
  folder: string,
  secrets: Secrets,
  parts: Part[],
): Promise<Opened> {
  const recordFile = join(folder, 'stack.json')
  const kept = recordSchema.safeParse(await readJson(recordFile))
  const record: StackRecord = kept.success ? kept.data : {}
  const started: Server[] = []
  const guardian = startGuardian(join(folder, 'users'))
  const me = join(folder, 'users', `${process.pid}.${randomBytes(4).toString('hex')}`)
  try {
    await writeFile(me, '')
    const missing: Part[] = []
    for (const part of parts) if (!(await lives(part, record, folder, secrets, me))) missing.push(part)
    if (missing.length > 0) {
      await requireSpace(folder)
      const binaries = await findServers(packageFolder(), options.say)
      // Together: each waits mostly for its disk.
      const results = await Promise.allSettled(
        missing.map(async (part) => {
          const server = await startPart(part, binaries[part], {
            record,
            folder,
            secrets,
            guardian,
            say: options.say,
          })
          started.push(server)
          record[part] = { pid: server.pid, port: server.port }
        }),
      )
      await writePrivately(recordFile, JSON.stringify(record))
      const fault = results.find((result) => result.status === 'rejected')
      if (fault) throw fault.reason
    }
  } catch (error) {
    for (const server of started) await endProcess(server.pid, 5_000)
    await rm(me, { force: true })
    guardian.close()
    throw diskFault(error, folder)
  }

  let stopping = false
  const broken = new Promise<never>((_, reject) => {
    for (const server of started)
      server.ended.then(async () => {
        if (!stopping) reject(await failure(server, 'ended while in use'))
      })
  })
  broken.catch(() => {})
  const stop = async (graceMs = STOP_MS) => {
    if (stopping) return
    stopping = true
    await leave({ folder, me, parts, record, guardian, graceMs })
  }
  const ports = { redis: record.redis?.port, database: record.database?.port }
  return { ports, started: started.length > 0, broken, stop }
}

/** Whether the recorded server answers; what is left of one that does not is ended first. */
async function lives(
  part: Part,
  record: StackRecord,
  folder: string,
  secrets: Secrets,
  me: string,
): Promise<boolean> {
  const server = record[part]
  if (!server || !(await runs(server.pid, folder))) return false
  // A guardian may be about to end servers that a killed starter left behind; those must not be joined.
  if ((await otherUsers(folder, me)).length > 0 && (await answers(part, server.port, secrets))) return true
  await endProcess(server.pid, STOP_MS)
  return false
}

async function answers(part: Part, port: number, secrets: Secrets): Promise<boolean> {
  if (part === 'redis') {
    const redis = connectRedis(redisAddress(port, secrets.redisPassword))
    return redis
      .connect()
      .then(() => redis.ping())
      .then(
        () => true,
        () => false,
      )
      .finally(() => redis.disconnect())
  }
  const { openDatabase } = await import('../../drizzle/database')
  const database = openDatabase(databaseAddress(port, secrets.databasePassword), 1)
  return database.pool
    .query('SELECT 1')
    .then(
      () => true,
      () => false,
    )
    .finally(() => database.close())
}

async function startPart(
  part: Part,
  binary: Binary,
  {
    record,
    folder,
    secrets,
    guardian,
    say,
  }: {
    record: StackRecord
    folder: string
    secrets: Secrets
    guardian: Guardian
    say(message: string): void
  },
): Promise<Server> {
  // The same port as last time when it is free, so that addresses people noted stay true.
  const port = await freePort(record[part]?.port)
  const logFile = join(folder, 'logs', `${part}.log`)
  const common = { binary, folder: join(folder, part), port, logFile, guardian }
  say(`Starting ${binary.kind} ${binary.version} …`)
  return part === 'redis'
    ? startRedis({ ...common, password: secrets.redisPassword })
    : startDatabase({ ...common, password: secrets.databasePassword })
}

/** The registrations of live users besides `me`; those of dead ones are removed. */
async function otherUsers(folder: string, me: string): Promise<string[]> {
  const alive: string[] = []
  for (const name of await readdir(join(folder, 'users'))) {
    const path = join(folder, 'users', name)
    if (path === me) continue
    if (signal(Number.parseInt(name, 10), 0)) alive.push(name)
    else await rm(path, { force: true })
  }
  return alive
}

async function leave({
  folder,
  me,
  parts,
  record,
  guardian,
  graceMs,
}: {
  folder: string
  me: string
  parts: Part[]
  record: StackRecord
  guardian: Guardian
  graceMs: number
}): Promise<void> {
  const unlock = await lockFolder(folder, () => {})
  try {
    await rm(me, { force: true })
    const others = await otherUsers(folder, me)
    // Together: each waits mostly for its disk.
    await Promise.all(
      parts.map(async (part) => {
        const server = record[part]
        if (!server) return
        if (others.length === 0 && (await runs(server.pid, folder))) await endProcess(server.pid, graceMs)
        guardian.forget(server.pid)
      }),
    )
  } catch (error) {
    throw new Error(`The embedded stack could not be stopped: ${sentence(error)}`, { cause: error })
  } finally {
    guardian.close()
    await unlock()
  }
}
