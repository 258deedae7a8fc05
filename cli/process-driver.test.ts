import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { carryOut } from '../server/scaler/carry-out'
import { autoscaling } from '../server/scheduler/autoscale'
import { auditRun } from '../server/services/audit-run'
import { configureQueue } from '../server/services/queues'
import { listScaleRequests, requestScale } from '../server/services/scale'
import { NO_LIMITS, setScaleLimits } from '../server/services/scale-limits'
import { type CrawlRig, openRig } from '../tests/crawl-rig'
import { type GraphSite, serveGraph } from '../tests/graph-site'
import { buildDist } from './build.mjs'
import { type WorkerProcesses, workerProcesses } from './process-driver'
import { type Guardian, startGuardian } from './stack/guardian'
import { lockFolder } from './stack/lock.mjs'

let rig: CrawlRig
let site: GraphSite
let folder: string
let guardian: Guardian
let workers: WorkerProcesses

beforeAll(async () => {
  const unlock = await lockFolder(`${process.cwd()}#build`, () => {})
  await buildDist(process.cwd(), () => {}).finally(unlock)
  rig = await openRig()
  folder = await mkdtemp(join(tmpdir(), 'orbweaver-scale-'))
  guardian = startGuardian()
  workers = workerProcesses({ logFolder: folder, drainSeconds: 5, guardian, ended: () => {} })
}, 120_000)
afterAll(async () => {
  await workers.stop()
  guardian.close()
  await site?.close()
  await rig.close()
  await rm(folder, { recursive: true, force: true })
})

const running = () =>
  rig.services.database.pool
    .query("SELECT COUNT(*) AS n FROM workers WHERE queue = ? AND state = 'running'", [rig.queue])
    .then(([rows]) => (rows as { n: number }[])[0]!.n)
const ask = async (wanted: number) => {
  await requestScale(rig.services, { queue: rig.queue, wanted }, 'test')
  await carryOut(rig.services, workers)
}
const newest = async () => (await listScaleRequests(rig.services, { queue: rig.queue, limit: 1 }))[0]!

test('asked for 1, then 6, then 2 workers in the middle of a crawl, it has them, and each page is fetched once', async () => {
  site = await serveGraph(600, { delayMs: 60 })
  await ask(1)
  const run = await rig.run(site.url)
  await vi.waitUntil(() => site.hits.size > 30, { timeout: 30_000, interval: 20 })
  await ask(6)
  expect(await newest()).toMatchObject({ state: 'done', detail: '5 started' })
  expect(workers.pids(rig.queue)).toHaveLength(6)
  await vi.waitUntil(async () => (await running()) === 6, { timeout: 30_000, interval: 50 })
  await ask(2)
  expect(await newest()).toMatchObject({ state: 'done', detail: '4 told to drain' })
  await vi.waitUntil(async () => (await running()) === 2, { timeout: 30_000, interval: 50 })
  await rig.ended(run)
  const stored = await rig.stored(run)
  expect(new Set(stored.keys())).toEqual(site.reachable)
  expect([...site.hits.values()].filter((times) => times.length > 1)).toEqual([])
  expect((await auditRun(rig.services, run)).checks.filter((check) => !check.ok)).toEqual([])
}, 150_000)

test('a request that this machine cannot carry out fails in words, and one that was superseded is left as it is', async () => {
  await ask(400)
  expect(await newest()).toMatchObject({
    state: 'failed',
    detail: expect.stringMatching(/at most 64 workers/),
  })
  expect(workers.pids(rig.queue)).toHaveLength(2)
  const early = await requestScale(rig.services, { queue: rig.queue, wanted: 5 }, 'test')
  await ask(2)
  const all = await listScaleRequests(rig.services, { queue: rig.queue, limit: 2 })
  expect(all.map(({ state, detail }) => ({ state, detail }))).toEqual([
    { state: 'done', detail: 'nothing to change' },
    { state: 'superseded', detail: null },
  ])
  expect(all[1]!.id).toBe(early.id)
})

test('told to, a queue asks for more workers by itself while work waits for them, and for fewer when it is over, each with its cause', async () => {
  await configureQueue(rig.services, rig.queue, { perHost: 500 }, 'test')
  await setScaleLimits(
    rig.services,
    rig.queue,
    { ...NO_LIMITS, fewest: 1, most: 4, auto: true, upSeconds: 10, downSeconds: 10 },
    'test',
  )
  // What the scheduler does each 5 s, with the scaler's turn after it.
  const look = autoscaling()
  let since = Date.now()
  const turn = async () => {
    await look(rig.services, () => true)
    await carryOut(rig.services, workers)
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  await ask(1)
  await vi.waitUntil(async () => (await running()) === 1, { timeout: 30_000, interval: 50 })
  await site.close()
  // One worker has eight pages at once, and each takes a second: most of a thousand pages wait for a worker.
  site = await serveGraph(700, { delayMs: 1000 })
  const run = await rig.run(site.url)
  since = Date.now()
  while (workers.pids(rig.queue).length < 3 && Date.now() - since < 90_000) await turn()
  expect(workers.pids(rig.queue).length).toBeGreaterThanOrEqual(3)
  await rig.ended(run)
  since = Date.now()
  while (workers.pids(rig.queue).length > 2 && Date.now() - since < 90_000) await turn()
  const told = (await listScaleRequests(rig.services, { queue: rig.queue, limit: 50 })).filter(
    ({ author }) => author === 'autoscaling',
  )
  expect(told.every(({ state, wanted }) => state === 'done' && wanted >= 1 && wanted <= 4)).toBe(true)
  expect(told.at(-1)).toMatchObject({
    previous: 1,
    wanted: 2,
    reason: expect.stringMatching(/^work has waited for a worker for \d+ s without a break$/),
  })
  expect(told[0]!.reason).toMatch(/^one less would have done for \d+ s: nothing waited/)
  expect(new Set((await rig.stored(run)).keys())).toEqual(site.reachable)
  await ask(2)
}, 300_000)

test('stopped, no worker is left', async () => {
  const pids = workers.pids(rig.queue)
  await workers.stop()
  expect(pids).toHaveLength(2)
  for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow(/ESRCH/)
})
