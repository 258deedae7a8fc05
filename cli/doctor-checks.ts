import { existsSync } from 'node:fs'
import { readFile, statfs } from 'node:fs/promises'
import type { Redis } from 'ioredis'
import { childEnv, env } from '../core/env'
import { sentence } from '../core/errors'
import { redactUrl } from '../core/log'
import { redisFaults } from '../core/redis-safety'
import { type Database, isAway, ping } from '../drizzle/database'
import { consoleUrl } from '../server/console-url'
import { type Finding, fail, ok, warn } from './finding'
import { packageFile } from './package-file'
import { portIsFree } from './stack/ports'

const OLDEST_NODE = [20, 19] as const
const LOW_BYTES = 5e9
const TOO_LOW_BYTES = 5e8
/** A page row may hold a whole page's data; smaller packets would refuse it. */
const PACKET_BYTES = 16 * 1024 * 1024
const SKEW_MS = 2_000
const ALIVE_SECONDS = 20

export function nodeVersion(version = process.versions.node): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [oldMajor, oldMinor] = OLDEST_NODE
  return major > oldMajor || (major === oldMajor && minor >= oldMinor)
    ? ok(`Node ${version}`)
    : fail(`Node ${version} is too old; install ${OLDEST_NODE.join('.')} or newer.`)
}

export async function packagesInstalled(): Promise<Finding> {
  const read = async (file: string) =>
    (JSON.parse(await readFile(packageFile(file), 'utf8')) as { packages: Record<string, Package> }).packages
  // An image holds no list of packages: what its programs need was put into them when it was built.
  if (!existsSync(packageFile('package-lock.json'))) return ok('part of the programs, as built')
  try {
    const wanted = await read('package-lock.json')
    const found = await read('node_modules/.package-lock.json')
    const wrong = Object.keys(wanted).filter(
      (path) =>
        path &&
        !wanted[path]!.optional &&
        !wanted[path]!.peer &&
        found[path]?.version !== wanted[path]!.version,
    )
    return wrong.length === 0
      ? ok(`${Object.keys(found).length} packages as in package-lock.json`)
      : fail(`${wrong.length} packages differ from package-lock.json (${wrong[0]}); run: npm ci`)
  } catch {
    return fail('node_modules/ is missing or incomplete; run: npm ci')
  }
}
interface Package {
  version: string
  optional?: boolean
  peer?: boolean
}

export async function diskSpace(folder: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(folder)
  const free = bavail * bsize
  const text = `${(free / 1e9).toFixed(1)} GB free at ${folder}`
  if (free < TOO_LOW_BYTES) return fail(`${text}; servers stop when it is full, so free some space now.`)
  return free < LOW_BYTES ? warn(`${text}; free some space before a large crawl.`) : ok(text)
}

export async function redisSettings(redis: Redis): Promise<Finding> {
  const { fatal, warnings } = await redisFaults(redis)
  if (fatal.length > 0) return fail([...fatal, ...warnings].join(' '))
  return warnings.length > 0
    ? warn(warnings.join(' '))
    : ok('append-only file, no eviction, repaired version')
}

/** @throws what is no matter of waiting, such as a wrong password. */
export async function databaseReady(database: Database, url: string): Promise<Finding> {
  try {
    await ping(database, url)
  } catch (error) {
    const { cause } = error as Error
    if (!isAway(cause)) throw error
    return fail(
      `The database at ${redactUrl(url)} is not ready (${sentence(cause)}): a first start takes up to a minute, so wait and look again; after that see its log (docker compose logs mysql), and check DATABASE_URL.`,
    )
  }
  return databaseVersion(database)
}

async function databaseVersion(database: Database): Promise<Finding> {
  const { version } = await one<{ version: string }>(database, 'SELECT VERSION() AS version')
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const mariadb = /mariadb/i.test(version)
  const newEnough = mariadb ? major > 10 || (major === 10 && minor >= 11) : major >= 8
  const name = `${mariadb ? 'MariaDB' : 'MySQL'} ${version}`
  return newEnough ? ok(name) : fail(`${name} is too old; install MySQL 8.0, MariaDB 10.11, or newer.`)
}

export async function migrations(database: Database): Promise<Finding> {
  const journal = JSON.parse(
    await readFile(packageFile('drizzle/migrations/meta/_journal.json'), 'utf8'),
  ) as { entries: { when: number }[] }
  const newest = journal.entries.at(-1)!.when
  const applied = await one<{ newest: number | null }>(
    database,
    'SELECT CAST(MAX(created_at) AS SIGNED) AS newest FROM __drizzle_migrations',
  ).catch(() => ({ newest: null }))
  if (applied.newest === newest) return ok(`${journal.entries.length} migrations applied`)
  return applied.newest !== null && applied.newest > newest
    ? fail('The database was migrated by a newer Orbweaver; bring this one up to date.')
    : fail('The database lacks migrations; run: npm start (or the migrate job of the deployment).')
}

export async function databaseSettings(database: Database): Promise<Finding> {
  const row = await one<{ flush: number; packet: number; charset: string; zone: string }>(
    database,
    'SELECT @@innodb_flush_log_at_trx_commit AS flush, @@max_allowed_packet AS packet, @@character_set_database AS charset, @@session.time_zone AS zone',
  )
  if (row.charset !== 'utf8mb4')
    return fail(
      `The database's character set is ${row.charset}, which cannot hold every page; run: ALTER DATABASE CHARACTER SET utf8mb4 COLLATE utf8mb4_bin.`,
    )
  if (row.zone !== '+00:00')
    return fail(`Sessions are in time zone ${row.zone} and not UTC; let no proxy change time_zone.`)
  const faults: string[] = []
  if (row.flush !== 1)
    faults.push('A power cut loses committed pages; set innodb_flush_log_at_trx_commit = 1.')
  if (row.packet < PACKET_BYTES)
    faults.push(`Large pages are refused (max_allowed_packet ${row.packet}); set it to 64M.`)
  return faults.length > 0 ? warn(faults.join(' ')) : ok('utf8mb4, UTC, every commit flushed')
}

/** Hours are meant in some zone; where none is named, it is UTC, which few people think in. */
export async function zone(database: Database): Promise<Finding> {
  const { TZ } = env()
  if (!childEnv().TZ) {
    const own = new Intl.DateTimeFormat().resolvedOptions().timeZone
    return warn(
      `TZ is not set, so schedules without a zone of their own fire by UTC (09:00 is 17:00 in Shanghai); set TZ=${own === 'UTC' ? 'Asia/Shanghai, or the zone that you think in' : own}.`,
    )
  }
  const { n } = await one<{ n: number }>(
    database,
    "SELECT COUNT(*) AS n FROM schedules WHERE enabled AND zone IN ('UTC', 'Etc/UTC')",
  )
  return n > 0 && TZ !== 'UTC' && TZ !== 'Etc/UTC'
    ? warn(
        `TZ is ${TZ}, but ${n} schedules fire by UTC: each keeps the zone that it was made with; change it in the console if it is not meant.`,
      )
    : ok(TZ)
}

export async function clocks(redis: Redis, database: Database): Promise<Finding> {
  const skews: string[] = []
  const compare = async (name: string, ask: () => Promise<number>) => {
    const before = Date.now()
    const theirs = await ask()
    const skew = theirs - (before + Date.now()) / 2
    if (Math.abs(skew) > SKEW_MS) skews.push(`${name} is ${(skew / 1000).toFixed(1)} s off this machine`)
  }
  await compare('Redis', async () => {
    const [seconds, micros] = await redis.time()
    return Number(seconds) * 1000 + Number(micros) / 1000
  })
  await compare('the database', async () => {
    const row = await one<{ ms: number }>(
      database,
      "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) / 1000 AS ms",
    )
    return Number(row.ms)
  })
  return skews.length > 0
    ? warn(`${skews.join(', ')}; run a time service (NTP) on all machines.`)
    : ok(`within ${SKEW_MS / 1000} s of Redis and the database`)
}

export async function liveWorkers(database: Database): Promise<Finding> {
  const { n } = await one<{ n: number }>(
    database,
    `SELECT COUNT(*) AS n FROM workers WHERE state IN ('running', 'draining') AND heartbeat_at > UTC_TIMESTAMP(3) - INTERVAL ${ALIVE_SECONDS} SECOND`,
  )
  return n > 0 ? ok(`${n} alive`) : warn('No worker is alive, so nothing is fetched; run: npm start.')
}

export async function consolePort(): Promise<Finding> {
  const { HTTP_PORT, HTTP_HOST } = env()
  if (await portIsFree(HTTP_PORT, HTTP_HOST)) return ok(`port ${HTTP_PORT} is free for the console`)
  return (await consoleIsOurs())
    ? ok(`the console answers at ${consoleUrl()}`)
    : fail(`Port ${HTTP_PORT} is in use by another program; end that, or set HTTP_PORT to another port.`)
}

/** Whether what listens on the console's port is an Orbweaver console. */
export async function consoleIsOurs(): Promise<boolean> {
  try {
    const answer = await fetch(`${consoleUrl()}/healthz`, {
      signal: AbortSignal.timeout(2_000),
    })
    return ((await answer.json()) as { live?: boolean }).live === true
  } catch {
    return false
  }
}

async function one<T>(database: Database, sql: string): Promise<T> {
  const [rows] = await database.pool.query(sql)
  return (rows as T[])[0]!
}
