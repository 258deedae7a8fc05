import type { Redis } from 'ioredis'
import { UnsafeError } from './errors'
import type { Log } from './log'

export interface RedisFaults {
  /** Reasons not to work on this Redis: it can lose work. Each is a sentence with its remedy. */
  fatal: string[]
  /** What an operator should change, though work is safe. */
  warnings: string[]
}

/** Oldest version with all the commands that the scripts use. */
const OLDEST: Version = [6, 2, 0]

/**
 * First releases of each line of Redis without CVE-2025-49844, which lets whoever may run a Lua script run anything.
 * Distributions repair older numbers without raising them, so an older number is a warning and no fault.
 */
const REPAIRED: Version[] = [
  [6, 2, 20],
  [7, 2, 11],
  [7, 4, 6],
  [8, 0, 4],
  [8, 2, 2],
]
const REPAIRED_VALKEY: Version[] = [
  [7, 2, 11],
  [8, 0, 6],
  [8, 1, 4],
]

type Version = [number, number, number]

/** Looks at what makes a Redis lose work or open to attack. Reads only; what it may not read, it does not judge. */
export async function redisFaults(redis: Redis): Promise<RedisFaults> {
  const info = parseInfo(await redis.info())
  const fatal: string[] = []
  const warnings: string[] = []
  const valkey = info.valkey_version !== undefined
  const text = info.valkey_version ?? info.redis_version ?? '0.0.0'
  const version = parseVersion(text)
  const name = `${valkey ? 'Valkey' : 'Redis'} ${text}`
  if (older(version, OLDEST))
    fatal.push(`${name} lacks commands that Orbweaver needs; install Redis 6.2 or newer, or Valkey.`)
  else if (hasHole(version, valkey ? REPAIRED_VALKEY : REPAIRED))
    warnings.push(
      `${name} has a known hole in its Lua engine (CVE-2025-49844) unless your distribution has repaired it; bring it up to date.`,
    )

  const policy = info.maxmemory_policy
  if (policy !== undefined && policy !== 'noeviction')
    fatal.push(
      `${name} evicts keys when it is full (maxmemory-policy ${policy}), which loses URLs; set: CONFIG SET maxmemory-policy noeviction.`,
    )

  if (info.aof_enabled === '0') {
    if (await keepsSnapshots(redis))
      warnings.push(
        `${name} keeps snapshots only, so a crash repeats the work since the last one; set: CONFIG SET appendonly yes.`,
      )
    else
      fatal.push(
        `${name} keeps nothing on disk, so a restart loses the frontier; set: CONFIG SET appendonly yes.`,
      )
  }
  if (info.aof_last_write_status === 'err' || info.rdb_last_bgsave_status === 'err')
    warnings.push(`${name} could not write to its disk lately; free some space there, and read its log.`)
  return { fatal, warnings }
}

/**
 * Logs the warnings and refuses a Redis that may lose work. With `allowUnsafe` the faults are logged as errors instead.
 * @throws UnsafeError naming each setting and its remedy.
 */
export async function requireSafeRedis(redis: Redis, allowUnsafe: boolean, log: Log): Promise<void> {
  const { fatal, warnings } = await redisFaults(redis)
  for (const warning of warnings) log.warn(warning)
  if (fatal.length === 0) return
  if (!allowUnsafe)
    throw new UnsafeError(`${fatal.join(' ')} (For experiments only: ALLOW_UNSAFE_REDIS=true.)`)
  for (const fault of fatal) log.error(`UNSAFE: ${fault}`)
}

/** The `name:value` lines of INFO. */
export function parseInfo(text: string): Record<string, string> {
  return Object.fromEntries(
    text
      .split(/\r?\n/)
      .filter((line) => line.includes(':') && !line.startsWith('#'))
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
  )
}

/** Whether a version is of a repaired line but before its repair, or of a line that never got one. */
export function hasHole(version: Version, repaired: Version[]): boolean {
  const ownLine = repaired.find(([major, minor]) => major === version[0] && minor === version[1])
  return older(version, ownLine ?? repaired.at(-1)!)
}

function parseVersion(text: string): Version {
  const [major = 0, minor = 0, patch = 0] = text.split('.').map((part) => Number.parseInt(part, 10))
  return [major, minor, patch]
}

function older(a: Version, b: Version): boolean {
  const differs = a.findIndex((part, index) => part !== b[index])
  return differs !== -1 && a[differs]! < b[differs]!
}

async function keepsSnapshots(redis: Redis): Promise<boolean> {
  try {
    const [, value] = (await redis.config('GET', 'save')) as string[]
    return Boolean(value)
  } catch {
    // Managed servers forbid CONFIG and persist by means of their own.
    return true
  }
}
