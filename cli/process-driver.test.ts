import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { carryOut } from '../server/scaler/carry-out'
import { auditRun } from '../server/services/audit-run'
import { listScaleRequests, requestScale } from '../server/services/scale'
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

test('stopped, no worker is left', async () => {
  const pids = workers.pids(rig.queue)
  await workers.stop()
  expect(pids).toHaveLength(2)
  for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow(/ESRCH/)
})
