import { afterAll, beforeAll, expect, test } from 'vitest'
import { setEnv } from '../../core/env'
import { consoleServices } from '../../tests/console-services'
import type { Services } from '../context'
import { change } from '../db'
import { createKey } from '../services/api-keys'
import { ensureQueue } from '../services/queues'
import { readMetrics } from './metrics'
import { metricsRefusal } from './metrics-access'

let services: Services
let end: () => Promise<void>

beforeAll(async () => {
  ;({ services, end } = await consoleServices())
})
afterAll(() => end())

const TOKEN = 'of-this-test-run-only-0123456789abcdef'
const statusOf = async (headers: Record<string, string>) =>
  (await metricsRefusal(services, new Headers(headers)))?.status ?? 200

test('nobody reads the metrics unless a token or a network is set', async () => {
  for (const headers of [
    {} as Record<string, string>,
    { authorization: 'Bearer ' },
    { authorization: 'Bearer undefined' },
    { 'x-forwarded-for': '127.0.0.1' },
  ])
    expect(await statusOf(headers)).toBe(401)
})

test('the token opens them, an API key, or an address of the networks; nothing else does', async () => {
  setEnv({ METRICS_TOKEN: TOKEN, METRICS_NETWORKS: '10.0.0.0/8' })
  expect(await statusOf({ authorization: `Bearer ${TOKEN}` })).toBe(200)
  expect(await statusOf({ 'x-forwarded-for': '10.9.9.9' })).toBe(200)
  const { key } = await createKey(services, { name: 'prometheus', role: 'viewer' }, 'test')
  expect(await statusOf({ authorization: `Bearer ${key}` })).toBe(200)
  for (const headers of [
    { authorization: `Bearer ${TOKEN}x` } as Record<string, string>,
    { authorization: TOKEN },
    { authorization: `Basic ${TOKEN}` },
    { 'x-forwarded-for': '127.0.0.1' },
  ])
    expect(await statusOf(headers)).toBe(401)
  setEnv({ METRICS_TOKEN: '', METRICS_NETWORKS: '' })
})

test('they tell lengths, outcomes, workers, restarts and memory as they are', async () => {
  const queue = `metrics_${process.pid}`
  await ensureQueue(services, queue)
  await services.redis.rpush(queue, 'https://a.test/', 'https://b.test/')
  const { pool } = services.database
  await change(
    pool,
    "INSERT INTO workers (id, kind, queue, hostname, pid, state, running, started_at, heartbeat_at) VALUES ('w1', 'http', ?, 'h', 1, 'running', 3, UTC_TIMESTAMP(3), UTC_TIMESTAMP(3)), ('w2', 'http', ?, 'h', 2, 'draining', 4, UTC_TIMESTAMP(3), UTC_TIMESTAMP(3)), ('w3', 'http', ?, 'h', 3, 'running', 5, UTC_TIMESTAMP(3), UTC_TIMESTAMP(3) - INTERVAL 1 MINUTE)",
    [queue, queue, queue],
  )
  await change(
    pool,
    "INSERT INTO worker_events (worker_id, queue, kind, at) VALUES ('w1', ?, 'oom', UTC_TIMESTAMP(3)), ('w1', ?, 'oom', UTC_TIMESTAMP(3) - INTERVAL 2 DAY)",
    [queue, queue],
  )
  const { text, contentType } = await readMetrics(services)
  await services.redis.del(queue)
  expect(contentType).toMatch(/^text\/plain; version=0\.0\.4/)
  const lines = text.split('\n')
  for (const line of [
    `orbweaver_queue_length{queue="${queue}",state="inbox"} 2`,
    `orbweaver_queue_length{queue="${queue}",state="pending"} 0`,
    `orbweaver_queue_paused{queue="${queue}"} 0`,
    `orbweaver_outcomes_total{queue="${queue}",outcome="done"} 0`,
    `orbweaver_workers{queue="${queue}",kind="http",state="running"} 1`,
    `orbweaver_workers{queue="${queue}",kind="http",state="draining"} 1`,
    `orbweaver_worker_pages{queue="${queue}",kind="http"} 7`,
    'orbweaver_worker_restarts_24h{cause="out_of_memory"} 1',
    'orbweaver_worker_restarts_24h{cause="exit"} 0',
    'orbweaver_redis_memory_limit_bytes 0',
  ])
    expect(lines).toContain(line)
  expect(text).toMatch(/^orbweaver_redis_memory_bytes [1-9]\d+$/m)
  expect(text).toMatch(/^orbweaver_web_process_resident_memory_bytes [1-9]\d+$/m)
})

test('a hundred readers at once ask the servers once', async () => {
  let asked = 0
  const counting = {
    ...services,
    redis: new Proxy(services.redis, {
      get: (redis, name) => {
        if (name === 'info') asked++
        const value = Reflect.get(redis, name)
        return typeof value === 'function' ? value.bind(redis) : value
      },
    }),
  }
  const pages = await Promise.all(Array.from({ length: 100 }, () => readMetrics(counting)))
  expect(asked).toBe(1)
  expect(new Set(pages.map((page) => page.text)).size).toBe(1)
})
