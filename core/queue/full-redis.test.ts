import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { Unavailable } from '../errors'
import { openRedis } from '../redis'
import { Queue } from './queue'
import { claim, contents, done, EXACT, FAST, tasks } from './queue-fixture'

/** A server of its own: its memory limit would hit every other test. */
let server: ChildProcess
let folder: string
let queue: Queue

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orbweaver-full-'))
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as { port: number }
  probe.close()
  const binary = inject('redisBinary')
  server = spawn(binary.path, ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder, '--save', ''], {
    env: binary.env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  for await (const chunk of server.stdout!) if (String(chunk).includes('Ready to accept')) break
  queue = new Queue(await openRedis(`redis://127.0.0.1:${port}/0`), 'full')
  await queue.configure(FAST)
  await queue.openRun(1, { dedupe: EXACT, maxPages: null })
})

afterAll(async () => {
  queue.redis.disconnect()
  const exit = once(server, 'exit')
  server.kill('SIGKILL')
  await exit
  await rm(folder, { recursive: true, force: true })
})

test('a full Redis refuses new work whole, lets work in hand end, and goes on when it has room again', async () => {
  await queue.admit(1, tasks(6))
  const [a, b, c, d] = await claim(queue, 4)
  await queue.begin([a!, b!])
  await queue.redis.config('SET', 'maxmemory', 1)
  const before = await contents(queue)

  await expect(queue.admit(1, tasks(3, {}, 100))).rejects.toThrow(Unavailable)
  await expect(queue.admit(1, tasks(3, {}, 100))).rejects.toThrow(/^Redis is full .*raise maxmemory/)
  await expect(claim(queue, 1)).rejects.toThrow(Unavailable)
  await expect(queue.ack([done(a!, tasks(3, {}, 100))])).rejects.toThrow(Unavailable)
  expect(await contents(queue)).toEqual(before)

  expect(await queue.extend([a!, b!, c!, d!], 1000)).toEqual([])
  expect(await queue.ack([done(b!)])).toEqual(['OK'])
  expect(await queue.retry(c!, 0)).toBe('OK')
  expect(await queue.release([d!])).toEqual(['OK'])
  expect(await queue.begin([a!])).toEqual(['OK'])
  expect((await queue.audit(true)).violations).toEqual([])

  await queue.redis.config('SET', 'maxmemory', 0)
  expect(await queue.ack([done(a!, tasks(3, {}, 100))])).toEqual(['OK'])
  expect(await queue.counts(1)).toMatchObject({ admitted: 9, done: 2 })
  expect((await queue.audit(true)).violations).toEqual([])
})

test('cancelling makes room in a full Redis', async () => {
  await queue.redis.config('SET', 'maxmemory', 1)
  expect((await queue.cancelRun(1)).left).toBe(0)
  await queue.redis.config('SET', 'maxmemory', 0)
})
