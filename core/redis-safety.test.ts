import type { Redis } from 'ioredis'
import pino from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ownRedis } from '../tests/services'
import { UnsafeError } from './errors'
import { openRedis } from './redis'
import { hasHole, redisFaults, requireSafeRedis } from './redis-safety'

// A server of its own: these tests change settings that the others rely on.
let own: Awaited<ReturnType<typeof ownRedis>>
let redis: Redis

beforeAll(async () => {
  own = await ownRedis()
  redis = await openRedis(own.url)
})
afterAll(async () => {
  redis.disconnect()
  await own.stop()
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
