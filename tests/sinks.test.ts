import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWorkers, type WorkerPool } from '../cli/worker-pool'
import { childEnv, env } from '../core/env'
import { spiderSchema } from '../core/spider'
import { createRun } from '../server/services/runs'
import type { SinkRecord } from '../server/sinks/sink'
import { SECRET, startSinkServer } from '../server/sinks/sink-servers'
import { type GraphSite, serveGraph } from './graph-site'
import { openServerRig, type ServerRig } from './server-rig'

const PAGES = 300
const KILLS = 2
let rig: ServerRig
let site: GraphSite
let other: Awaited<ReturnType<typeof startSinkServer>>
let folder: string
let workers: WorkerPool
let scheduler: ChildProcess
let surroundings: NodeJS.ProcessEnv
beforeAll(async () => {
  rig = await openServerRig()
  site = await serveGraph(PAGES)
  other = await startSinkServer()
  folder = await mkdtemp(join(tmpdir(), 'orbweaver-sinks-'))
  await mkdir(join(folder, 'logs'))
  const sinks = {
    files: { kind: 'jsonl', folder, rotate: 'never' },
    hook: { kind: 'webhook', url: other.address, secret: SECRET, items: 30, allowPrivate: true },
  }
  await writeFile(join(folder, 'sinks.yaml'), JSON.stringify({ sinks }))
  surroundings = childEnv({
    REDIS_URL: env().REDIS_URL!,
    DATABASE_URL: env().DATABASE_URL!,
    SINKS_FILE: join(folder, 'sinks.yaml'),
  })
})
afterAll(async () => {
  await workers?.stop()
  scheduler?.kill('SIGKILL')
  await rig.close()
  await site.close()
  await other.close()
  await rm(folder, { recursive: true, force: true })
})

const startScheduler = () => {
  scheduler = spawn(process.execPath, ['dist/scheduler.js'], { env: surroundings, stdio: 'ignore' })
}

test('every stored item reaches its sinks, though the scheduler is killed while it gives them: files have each once, a webhook at least once', async () => {
  startScheduler()
  workers = startWorkers({ count: 2, queue: rig.queue, stateDir: folder, longestMs: 500, env: {} })
  const { id: run } = await createRun(rig.services, {
    spider: rig.spider.id,
    definition: spiderSchema.parse({ name: 'rig', allowPrivate: true, sinks: ['files', 'hook'] }),
    queue: rig.queue,
    seeds: [{ url: site.url }],
    trigger: 'manual',
  })
  let killed = 0
  let lost: SinkRecord[] = []
  other.state.fault = (items) => {
    // Its sink has the batch, and it will never hear of it.
    if (killed === KILLS || other.requests.length % 4 !== 0) return undefined
    killed++
    lost = [...lost, ...items]
    const ended = once(scheduler, 'exit')
    scheduler.kill('SIGKILL')
    void ended.then(async () => {
      // Its lead ends at once, instead of after ten seconds.
      await rig.rows('UPDATE leases SET expires_at = UTC_TIMESTAMP(3)')
      startScheduler()
    })
    return 'never'
  }
  const left = async () => {
    const [row] = await rig.rows<{ state: string; n: number }>(
      'SELECT state, (SELECT COUNT(*) FROM sink_outbox) AS n FROM runs WHERE id = ?',
      [run],
    )
    return { ...row, killed }
  }
  await expect.poll(left, { timeout: 120_000 }).toEqual({ state: 'finished', n: 0, killed: KILLS })
  const stored = await rig.rows<{ id: string }>(
    "SELECT CONCAT(run_id, '-', LOWER(LEFT(HEX(url_hash), 32)), '-', n) AS id FROM items WHERE run_id = ?",
    [run],
  )
  const ids = stored.map(({ id }) => id).toSorted()
  expect(ids).toHaveLength(PAGES)
  const lines = (await readFile(join(folder, 'rig.jsonl'), 'utf8')).trimEnd().split('\n')
  expect(lines.map((line) => (JSON.parse(line) as SinkRecord).id).toSorted()).toEqual(ids)
  const given = other.taken.map(({ id }) => id)
  expect([...new Set(given)].toSorted()).toEqual(ids)
  expect(lost.filter(({ id }) => !given.includes(id))).toEqual([])
}, 180_000)

test('`orbweaver sinks` tells what waits and what is refused, and gives that again', async () => {
  scheduler.kill('SIGKILL')
  await rig.rows(
    `INSERT INTO sink_outbox (sink, run_id, url_hash, state, detail, created_at)
       SELECT 'hook', run_id, url_hash, 'dead', 'HTTP 422: no', UTC_TIMESTAMP(3) FROM pages LIMIT 2`,
  )
  const ask = async (...args: string[]) =>
    (await promisify(execFile)(process.execPath, ['dist/cli.js', 'sinks', ...args], { env: surroundings }))
      .stdout
  expect(await ask()).toBe(
    'files (jsonl): nothing waits\nhook (webhook): nothing waits, 2 are refused (HTTP 422: no)\n',
  )
  expect(await ask('replay', 'hook')).toBe('2 pages are given to hook again.\n')
  expect(await rig.rows("SELECT sink FROM sink_outbox WHERE state = 'waiting'")).toHaveLength(2)
  await expect(ask('replay', 'hock')).rejects.toThrow(/SINKS_FILE names no sink "hock"/)
})
