import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import pino from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findServers } from '../cli/stack/binaries'
import { startGuardian } from '../cli/stack/guardian'
import { freePort } from '../cli/stack/ports'
import { redisAddress, startRedis } from '../cli/stack/redis'
import { endProcess, type Server } from '../cli/stack/server'
import { packageFolder } from '../cli/stack/state'
import { UnsafeError } from './errors'
import { openRedis } from './redis'
import { hasHole, redisFaults, requireSafeRedis } from './redis-safety'

// A server of its own: these tests change settings that the others rely on.
const guardian = startGuardian()
let folder: string
let server: Server
let redis: Redis

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orbweaver-safety-'))
  const password = randomBytes(16).toString('hex')
  const { redis: binary } = await findServers(packageFolder(), () => {})
  const port = await freePort()
  server = await startRedis({ binary, folder, port, password, logFile: join(folder, 'log') })
  guardian.watch(server.pid)
  redis = await openRedis(redisAddress(port, password))
})
afterAll(async () => {
  redis.disconnect()
  await endProcess(server.pid, 0)
  guardian.close()
  await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
})

const silent = pino({ level: 'silent' })

test('the embedded Redis has no fault', async () => {
  expect((await redisFaults(redis)).fatal).toEqual([])
  await requireSafeRedis(redis, false, silent)
})

test('a Redis that keeps nothing on disk is refused with the setting to change', async () => {
  await redis.config('SET', 'appendonly', 'no')
  try {
    await expect(requireSafeRedis(redis, false, silent)).rejects.toThrow(UnsafeError)
    await expect(requireSafeRedis(redis, false, silent)).rejects.toThrow(/CONFIG SET appendonly yes/)
    await redis.config('SET', 'save', '3600 1')
    const { fatal, warnings } = await redisFaults(redis)
    expect(fatal).toEqual([])
    expect(warnings.join()).toMatch(/snapshots only/)
  } finally {
    await redis.config('SET', 'save', '')
    await redis.config('SET', 'appendonly', 'yes')
  }
})

test('a Redis that evicts is refused, and allowed only when the operator says so', async () => {
  await redis.config('SET', 'maxmemory-policy', 'allkeys-lru')
  try {
    await expect(requireSafeRedis(redis, false, silent)).rejects.toThrow(
      /maxmemory-policy allkeys-lru.*CONFIG SET maxmemory-policy noeviction/,
    )
    await requireSafeRedis(redis, true, silent)
  } finally {
    await redis.config('SET', 'maxmemory-policy', 'noeviction')
  }
})

test('a version counts as open to attack until the repair of its own line', () => {
  const repaired: [number, number, number][] = [
    [6, 2, 20],
    [7, 4, 6],
    [8, 2, 2],
  ]
  expect(hasHole([6, 2, 19], repaired)).toBe(true)
  expect(hasHole([6, 2, 20], repaired)).toBe(false)
  expect(hasHole([7, 0, 15], repaired)).toBe(true)
  expect(hasHole([7, 4, 6], repaired)).toBe(false)
  expect(hasHole([8, 4, 0], repaired)).toBe(false)
})
