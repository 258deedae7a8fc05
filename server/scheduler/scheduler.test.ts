import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { childEnv } from '../../core/env'
import { openServerRig, type ServerRig } from '../../tests/server-rig'
import { freshName, testRedisUrl } from '../../tests/services'
import { saveSchedule } from '../services/schedules'
import { saveSpider } from '../services/spiders'

/** Where its imports find the packages. */
const folder = join('node_modules', '.cache', freshName('scheduler'))
let rig: ServerRig
const started: ChildProcess[] = []

beforeAll(async () => {
  rig = await openServerRig()
  await mkdir(folder, { recursive: true })
  await build({
    entryPoints: ['server/scheduler/main.ts'],
    outfile: join(folder, 'main.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'error',
  })
})
afterAll(async () => {
  for (const child of started) child.kill('SIGKILL')
  await rig.close()
  await rm(folder, { recursive: true, force: true })
})

function startProcess(): ChildProcess {
  const child = spawn(process.execPath, [join(folder, 'main.mjs')], {
    env: childEnv({ QUEUE_KEY: rig.queue }),
    stdio: 'ignore',
  })
  started.push(child)
  return child
}

/** Waits for what `look` answers, other than undefined. */
async function eventually<T>(what: string, look: () => Promise<T | undefined>, seconds = 40): Promise<T> {
  const until = performance.now() + seconds * 1000
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    if (performance.now() > until) throw new Error(`did not happen within ${seconds} s: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

const leadingPid = () =>
  eventually('somebody leads', async () => {
    const [row] = await rig.rows<{ holder: string }>(
      "SELECT holder FROM leases WHERE name = 'scheduler' AND expires_at > UTC_TIMESTAMP(3)",
    )
    const pid = row && Number(row.holder.split('-').at(-2))
    return pid || undefined
  })

const fired = () =>
  rig.rows<{ at: number; runs: number }>(
    'SELECT UNIX_TIMESTAMP(f.fire_at) AS at, (SELECT COUNT(*) FROM runs WHERE schedule_id = f.schedule_id AND fire_at = f.fire_at) AS runs FROM fires f ORDER BY f.fire_at',
  )

test('a leader that is frozen across a fire is replaced, and when it wakes each time still has exactly one run', async () => {
  const spider = await saveSpider(rig.services, { name: 'often', seeds: ['http://often.test/'] }, 'test')
  await saveSchedule(
    rig.services,
    {
      name: 'often',
      spider: spider.id,
      queue: rig.queue,
      cron: '*/2 * * * * *',
      zone: 'UTC',
      overlap: 'parallel',
      missed: 'all',
    },
    'test',
  )
  const processes = [startProcess(), startProcess()]
  const first = await leadingPid()
  await eventually('the first fires', async () => ((await fired()).length >= 2 ? true : undefined))
  const leader = processes.find(({ pid }) => pid === first)!
  leader.kill('SIGSTOP')
  const second = await eventually('another leads', async () =>
    (await leadingPid()) !== first ? await leadingPid() : undefined,
  )
  expect(processes.map(({ pid }) => pid)).toContain(second)
  const before = (await fired()).length
  await eventually('fires go on', async () => ((await fired()).length > before ? true : undefined))
  leader.kill('SIGCONT')
  const woken = (await fired()).length
  await eventually('fires go on with both awake', async () =>
    (await fired()).length > woken + 1 ? true : undefined,
  )

  const times = await fired()
  expect(times.every(({ runs }) => Number(runs) === 1)).toBe(true)
  expect(new Set(times.slice(1).map(({ at }, n) => Number(at) - Number(times[n]!.at)))).toEqual(new Set([2]))
  const [row] = await rig.rows<{ n: number }>('SELECT COUNT(*) AS n FROM runs')
  expect(row!.n).toBe(times.length)

  for (const child of processes) child.kill('SIGTERM')
  const ends = await Promise.all(
    processes.map((child) => child.exitCode ?? once(child, 'exit').then(([code]) => code as number)),
  )
  expect(ends).toEqual([0, 0])
}, 90_000)

test('a scheduler that cannot start says why in one sentence, without the password, and exits with 1', async () => {
  const child = spawn(process.execPath, [join(folder, 'main.mjs')], {
    env: childEnv({
      REDIS_URL: testRedisUrl(),
      DATABASE_URL: 'mysql://me:hunter2@127.0.0.1:1/none',
      STARTUP_SECONDS: '1',
    }),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  started.push(child)
  let said = ''
  child.stderr!.on('data', (text) => {
    said += text
  })
  const [code] = await once(child, 'close')
  expect(code).toBe(1)
  expect(said).toMatch(/mysql:\/\/me:\*\*\*@127\.0\.0\.1:1.*check that it runs/)
  expect(said).not.toContain('hunter2')
})
