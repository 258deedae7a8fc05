import { resolve } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { auditRun } from '../server/services/audit-run'
import type { Step } from '../worker/steps'
import { type CrawlRig, openRig } from './crawl-rig'
import { type GraphSite, serveGraph } from './graph-site'

let rig: CrawlRig
let site: GraphSite
afterEach(async () => {
  await rig.close()
  await site.close()
})

async function expectExact(run: number): Promise<void> {
  const stored = await rig.stored(run)
  expect([...site.reachable].filter((url) => stored.get(url) !== 'done')).toEqual([])
  expect([...stored.keys()].filter((url) => !site.reachable.has(url))).toEqual([])
  const { checks } = await auditRun(rig.services, run)
  expect(checks.filter((check) => !check.ok)).toEqual([])
}

test('a crawl stores every reachable page once and fetches none twice, and the audit agrees', async () => {
  rig = await openRig()
  site = await serveGraph(1500, { wide: 1200 })
  rig.workers(2)
  const run = await rig.run(site.url)
  const ended = await rig.ended(run)
  await expectExact(run)
  expect(ended).toMatchObject({ admitted: 1500, done: 1500, failed: 0, ignored: 0 })
  expect([...site.hits.values()].filter((times) => times.length > 1)).toEqual([])
}, 120_000)

test('with three workers of which one is killed every second and a half no page is missing and none is there twice', async () => {
  // Places of a host that a killed worker held come back with its leases; so many that these are not what limits the crawl.
  rig = await openRig({ perHost: 100 })
  site = await serveGraph(2500, { wide: 1200, delayMs: 80 })
  const pool = rig.workers(3)
  const run = await rig.run(site.url)
  let kills = 0
  const killer = setInterval(() => {
    const pids = pool.pids()
    const victim = pids[Math.floor(Math.random() * pids.length)]
    if (victim === undefined) return
    kills++
    process.kill(victim, 'SIGKILL')
  }, 1500)
  try {
    await rig.ended(run, 150_000)
  } finally {
    clearInterval(killer)
  }
  await expectExact(run)
  expect(kills).toBeGreaterThan(3)
}, 180_000)

const STEPS: Record<Step, number> = {
  claimed: 3,
  begun: 3,
  fetched: 20,
  stored: 4,
  'links ahead': 1,
  acknowledged: 4,
}

test.each(Object.entries(STEPS))(
  'a worker that always dies right after "%s" loses no page',
  async (step, nth) => {
    rig = await openRig()
    site = step === 'links ahead' ? await serveGraph(1500, { wide: 1200 }) : await serveGraph(150)
    // One worker keeps dying; another, started when it has died a few times, finishes what would take it for ever.
    const dying = rig.workers(1, {
      NODE_OPTIONS: `--import=${resolve('tests/crash-at.mjs')}`,
      ORBWEAVER_CRASH_AT: `${step}:${nth}`,
    })
    const run = await rig.run(site.url)
    const first = await firstPid(dying)
    await expect.poll(() => dying.pids().every((pid) => pid !== first), { timeout: 20_000 }).toBe(true)
    rig.workers(1)
    await rig.ended(run)
    await expectExact(run)
  },
  120_000,
)

async function firstPid(pool: { pids(): number[] }): Promise<number> {
  await expect.poll(() => pool.pids().length, { timeout: 10_000 }).toBe(1)
  return pool.pids()[0]!
}
