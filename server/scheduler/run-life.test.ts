import { afterAll, beforeAll, expect, test } from 'vitest'
import { urlHash } from '../../core/url'
import { openServerRig, type ServerRig, task, work } from '../../tests/server-rig'
import { openInboxRun } from '../../worker/sink/inbox'
import { readRun } from '../../worker/sink/runs'
import { auditRun } from '../services/audit-run'
import { settleEpoch } from '../services/epoch'
import { type PageRecord, pageRows } from '../services/export-pages'
import { redriveRun } from '../services/redrive'
import { openFrontier } from '../services/run-frontier'
import { cancelRun, createRun, getRun, runStatus } from '../services/runs'
import { insertSeeds, SEED_CHUNK, toSeedRow } from '../services/seed-rows'
import { getSpider, type SavedSpider, saveSpider } from '../services/spiders'
import { cancelRuns } from './cancel-runs'
import { finishRuns } from './finish-runs'
import { guardEpoch } from './guard-epoch'
import { seedRuns } from './seed-runs'

const always = () => true
const HOST = 'http://run.test'
let rig: ServerRig
beforeAll(async () => {
  rig = await openServerRig()
  await settleEpoch(rig.services)
})
afterAll(() => rig.close())

const start = async (paths: string[], definition?: object) => {
  const spider = await getSpider(rig.services, rig.spider.id)
  return createRun(rig.services, {
    spider: spider.id,
    ...(definition ? { definition: { ...spider.definition, ...definition } } : {}),
    queue: rig.queue,
    seeds: paths.map((path) => ({ url: HOST + path })),
    trigger: 'manual',
    startedBy: 'me@example.com',
  })
}
const counts = async (id: number) => (await runStatus(rig.services, id)).counts
const numbers = (n: number, prefix = '/') => Array.from({ length: n }, (_, at) => `${prefix}${at}`)

test('a run with links goes from its seeds to finished, with figures that add up and an audit that passes', async () => {
  const { id, seeds } = await start(['/a', '/b', '/b'])
  expect(seeds).toBe(2)
  expect(await getRun(rig.services, id)).toMatchObject({ state: 'seeding', startedBy: 'me@example.com' })
  await seedRuns(rig.services, always)
  expect(await getRun(rig.services, id)).toMatchObject({ state: 'running' })
  await finishRuns(rig.services, always)
  expect((await getRun(rig.services, id)).state).toBe('running')

  const visited = await work(rig, (url) =>
    url.endsWith('/a')
      ? { links: [`${HOST}/c`, `${HOST}/d`, `${HOST}/b`] }
      : { state: url.endsWith('/d') ? 'ignored' : 'done' },
  )
  expect(visited).toHaveLength(4)
  await Promise.all([finishRuns(rig.services, always), finishRuns(rig.services, always)])
  expect(await getRun(rig.services, id)).toMatchObject({
    state: 'finished',
    admitted: 4,
    done: 3,
    ignored: 1,
    failed: 0,
    items: 3,
  })
  expect(await runStatus(rig.services, id)).toMatchObject({ items: 3, counts: { done: 3, pending: 0 } })
  expect(await auditRun(rig.services, id)).toMatchObject({ ok: true })

  const pages: PageRecord[] = []
  for await (const page of pageRows(rig.services, id)) pages.push(page)
  expect(new Set(pages.map(({ url }) => url))).toEqual(new Set(visited))
  expect(pages.find(({ url }) => url.endsWith('/c'))).toMatchObject({
    state: 'done',
    status: 200,
    depth: 1,
    referrer: `${HOST}/a`,
    items: [{ name: 'page', data: { url: `${HOST}/c` } }],
  })
})

test('the record alone still passes the audit once Redis has let go of the run, and a hole in it is found', async () => {
  const { id } = await start(['/x'])
  await seedRuns(rig.services, always)
  await work(rig, (url) => (url.endsWith('/x') ? { links: numbers(5, `${HOST}/x`) } : {}))
  await finishRuns(rig.services, always)
  await rig.services.queue(rig.queue).forget(id)
  expect(await auditRun(rig.services, id)).toMatchObject({ ok: true })

  await rig.rows('DELETE FROM pages WHERE run_id = ? AND url = ?', [id, `${HOST}/x3`])
  const { ok, checks } = await auditRun(rig.services, id)
  expect(ok).toBe(false)
  expect(checks.filter((check) => !check.ok).map(({ name }) => name)).toEqual([
    'Every outcome is stored',
    'Every link was admitted',
  ])
  expect(checks.find(({ name }) => name === 'Every link was admitted')!.detail).toContain(`${HOST}/x3`)
})

/** A spider with one seed in its definition and `stored` others on record. */
async function seededSpider(name: string, stored: number): Promise<SavedSpider> {
  const spider = await saveSpider(rig.services, { name, seeds: [`${HOST}/definition`] }, 'test')
  const owner = { spiderId: spider.id, runId: 0 }
  const rows = numbers(stored, `${HOST}/stored/`).map((url) => toSeedRow({ url }))
  for (let from = 0; from < stored; from += SEED_CHUNK)
    await insertSeeds(rig.services.database.pool, owner, rows.slice(from, from + SEED_CHUNK))
  return spider
}

test('seeding goes on where it was interrupted, and admits each seed once: those of the definition and of the spider', async () => {
  const spider = await seededSpider('seeded', 1200)
  const { id } = await createRun(rig.services, { spider: spider.id, queue: rig.queue, trigger: 'manual' })
  let asked = 0
  await seedRuns(rig.services, () => ++asked < 3)
  expect((await getRun(rig.services, id)).state).toBe('seeding')
  expect((await counts(id)).admitted).toBeLessThan(1201)
  await seedRuns(rig.services, always)
  expect(await getRun(rig.services, id)).toMatchObject({ state: 'running' })
  expect((await counts(id)).admitted).toBe(1201)
  await cancelRun(rig.services, id, 'test')
  await cancelRuns(rig.services, always)
})

test('a run that was given its own seeds crawls only those, also when it is rebuilt, and its links are measured against those', async () => {
  const { id: spider } = await seededSpider('elsewhere', 3)
  const own = 'http://own.test/'
  const { id } = await createRun(rig.services, {
    spider,
    queue: rig.queue,
    seeds: [{ url: own }],
    trigger: 'cli',
  })
  await seedRuns(rig.services, always)
  await rig.rows("UPDATE dispatcher SET redis_run_id = 'the one before'")
  await guardEpoch(rig.services, always)
  expect((await readRun(rig.services.database.pool, id))!.seeds).toEqual([own])
  expect(await work(rig)).toEqual([own])
  await finishRuns(rig.services, always)
  expect(await getRun(rig.services, id)).toMatchObject({ state: 'finished', admitted: 1, done: 1 })
  expect((await auditRun(rig.services, id)).checks).toContainEqual({
    name: 'Every seed was admitted',
    ok: true,
    detail: '1 seeds, none missing',
  })
})

test('a run of the inbox crawls its entries alone, also when it is rebuilt', async () => {
  const spider = await seededSpider('inbox', 3)
  const { epoch } = (await rig.rows<{ epoch: number }>('SELECT epoch FROM dispatcher'))[0]!
  const id = await openInboxRun(rig.services.database.pool, rig.queue, spider, epoch)
  await rig.rows("UPDATE dispatcher SET redis_run_id = 'the one before'")
  await guardEpoch(rig.services, always)
  expect((await counts(id)).admitted).toBe(0)
  expect((await readRun(rig.services.database.pool, id))!.seeds).toEqual([])
  await rig.rows("UPDATE runs SET state = 'finished', open_key = NULL WHERE id = ?", [id])
})

test('the audit of a run without seeds of its own misses every seed of its spider that was not admitted', async () => {
  const { id: spider } = await seededSpider('missing', 2)
  const { id } = await createRun(rig.services, { spider, queue: rig.queue, trigger: 'manual' })
  await seedRuns(rig.services, always)
  expect((await readRun(rig.services.database.pool, id))!.seeds).toHaveLength(3)
  expect(await work(rig)).toHaveLength(3)
  await finishRuns(rig.services, always)
  const seeds = async () =>
    (await auditRun(rig.services, id)).checks.find(({ name }) => name === 'Every seed was admitted')!
  expect(await seeds()).toMatchObject({ ok: true, detail: '3 seeds, none missing' })
  await rig.services.queue(rig.queue).forget(id)
  await rig.rows('DELETE FROM pages WHERE run_id = ? AND url = ?', [id, `${HOST}/stored/1`])
  expect(await seeds()).toMatchObject({ ok: false, detail: expect.stringContaining(`${HOST}/stored/1`) })
})

test('a cancelled run keeps what it has, gets nothing more, and its figures add up', async () => {
  const { id } = await start(numbers(30, '/cancel/'))
  await seedRuns(rig.services, always)
  const { leases } = await rig.services
    .queue(rig.queue)
    .claim({ max: 3, leaseMs: 60_000, hardMs: 60_000, settingsVersion: 0 })
  expect(leases).toHaveLength(3)
  await cancelRun(rig.services, id, 'me@example.com')
  expect(await rig.services.queue(rig.queue).begin(leases)).toEqual(['STALE', 'STALE', 'STALE'])
  await cancelRuns(rig.services, always)
  expect(await getRun(rig.services, id)).toMatchObject({
    state: 'cancelled',
    admitted: 30,
    cancelled: 30,
    done: 0,
  })
  expect(await work(rig)).toEqual([])
  expect(
    await rig.rows("SELECT actor FROM audit_log WHERE action = 'run.cancel' AND subject = ?", [String(id)]),
  ).toEqual([{ actor: 'me@example.com' }])
})

test('a run that is cancelled while it is seeded stays cancelled', async () => {
  const { id } = await start(numbers(600, '/early/'))
  let asked = 0
  await seedRuns(rig.services, () => ++asked < 3)
  await cancelRun(rig.services, id, 'test')
  await Promise.all([cancelRuns(rig.services, always), seedRuns(rig.services, always)])
  await cancelRuns(rig.services, always)
  expect((await getRun(rig.services, id)).state).toBe('cancelled')
  expect(await work(rig)).toEqual([])
})

test('a run that is cancelled before it is seeded takes no seed from a scheduler that had begun with it', async () => {
  const { id } = await start(['/never'])
  await cancelRun(rig.services, id, 'test')
  await cancelRuns(rig.services, always)
  const { spiderId, definition } = await getRun(rig.services, id)
  await openFrontier(rig.services, { id, spiderId, queue: rig.queue, definition })
  expect(await rig.services.queue(rig.queue).admit(id, [task(`${HOST}/never`)])).toMatchObject({ refused: 1 })
})

test('a run is not finished on the word of a Redis that was restarted, until the run is rebuilt', async () => {
  const { id } = await start(['/restart'])
  await seedRuns(rig.services, always)
  await work(rig)
  // As if the Redis that the epoch began with had been another.
  await rig.rows("UPDATE dispatcher SET redis_run_id = 'the one before'")
  await finishRuns(rig.services, always)
  expect((await getRun(rig.services, id)).state).toBe('running')
  await guardEpoch(rig.services, always)
  await finishRuns(rig.services, always)
  expect((await getRun(rig.services, id)).state).toBe('finished')
})

test('failed pages are tried again once each, though asked twice at once, and the run finishes anew', async () => {
  const { id } = await start(numbers(20, '/redrive/'))
  await seedRuns(rig.services, always)
  await work(rig, (url) => ({ state: url.endsWith('/0') ? 'done' : 'failed' }))
  await finishRuns(rig.services, always)
  expect(await getRun(rig.services, id)).toMatchObject({ state: 'finished', failed: 19 })
  const many = await Promise.all([redriveRun(rig.services, id, 'test'), redriveRun(rig.services, id, 'test')])
  expect(many[0] + many[1]).toBe(19)
  expect(await work(rig)).toHaveLength(19)
  await finishRuns(rig.services, always)
  expect(await getRun(rig.services, id)).toMatchObject({
    state: 'finished',
    done: 20,
    failed: 0,
    admitted: 20,
  })
  expect((await auditRun(rig.services, id)).ok).toBe(true)
})

test('failed pages can be tried again when Redis knows nothing of the run any more', async () => {
  const { id } = await start(numbers(3, '/gone/'))
  await seedRuns(rig.services, always)
  await work(rig, (url) => ({ state: url.endsWith('/0') ? 'done' : 'failed' }))
  await finishRuns(rig.services, always)
  await rig.services.queue(rig.queue).forget(id)
  expect(
    await redriveRun(rig.services, id, 'test', { hashes: [urlHash(`${HOST}/gone/1`).toString('hex')] }),
  ).toBe(1)
  expect(await work(rig)).toEqual([`${HOST}/gone/1`])
  await finishRuns(rig.services, always)
  expect(await getRun(rig.services, id)).toMatchObject({ state: 'finished', done: 2, failed: 1, admitted: 3 })
})

test('of the failed pages those that answer to a filter are tried again, also when Redis knows nothing of the run', async () => {
  const { id } = await start(numbers(60, '/filtered/'))
  await seedRuns(rig.services, always)
  await work(rig, () => ({ state: 'failed' }))
  await finishRuns(rig.services, always)
  const filter = { url: '/filtered/5' }
  // 5, and 50 to 59.
  expect(await redriveRun(rig.services, id, 'lin', { filter })).toBe(11)
  expect(
    await rig.rows(
      "SELECT actor, action, detail FROM audit_log WHERE subject = ? AND action LIKE 'run.redr%' ORDER BY id",
      [id],
    ),
  ).toEqual([
    { actor: 'lin', action: 'run.redrive', detail: JSON.stringify({ filter }) },
    { actor: 'lin', action: 'run.redriven', detail: JSON.stringify({ pages: 11 }) },
  ])
  expect((await work(rig, () => ({ state: 'failed' }))).every((url) => url.includes('/filtered/5'))).toBe(
    true,
  )
  await finishRuns(rig.services, always)
  await rig.services.queue(rig.queue).forget(id)
  expect(await redriveRun(rig.services, id, 'lin', { filter })).toBe(11)
  expect(await work(rig)).toHaveLength(11)
  await finishRuns(rig.services, always)
  expect(await getRun(rig.services, id)).toMatchObject({ state: 'finished', done: 11, failed: 49 })
})

test('a run without any seed, or with none that can be crawled, is refused and leaves nothing', async () => {
  const before = await rig.rows('SELECT id FROM runs')
  await expect(start([])).rejects.toThrow(/nowhere to begin; give it a URL, or give the spider "rig" seeds/)
  await expect(
    createRun(rig.services, {
      spider: rig.spider.id,
      queue: rig.queue,
      seeds: [{ url: 'ftp://x/' }],
      trigger: 'cli',
    }),
  ).rejects.toThrow(/no seed that can be crawled: .*ftp:\/\/x/)
  // The spider's own do not stand in for those that were asked for.
  await expect(
    createRun(rig.services, {
      spider: (await seededSpider('stand-in', 1)).id,
      queue: rig.queue,
      seeds: [{ url: 'ftp://x/' }],
      trigger: 'cli',
    }),
  ).rejects.toThrow(/no seed that can be crawled/)
  await expect(createRun(rig.services, { spider: 987654, queue: rig.queue, trigger: 'cli' })).rejects.toThrow(
    /no spider with id 987654/,
  )
  expect(await rig.rows('SELECT id FROM runs')).toEqual(before)
})

test('a Redis that lost everything: the run is rebuilt from the record, nothing stored is fetched again, nothing is missing', async () => {
  const all = numbers(60, `${HOST}/lost/`)
  const { id } = await start(['/lost/0'])
  await seedRuns(rig.services, always)
  // Each page links to the next three; half of them are stored when Redis forgets all it had of this queue.
  const links = (url: string) => {
    const n = all.indexOf(url)
    return all.slice(n + 1, n + 4)
  }
  const first = await work(rig, (url) => ({ links: links(url) }), 30)
  expect(first).toHaveLength(30)
  const keys = await rig.services.redis.keys(`*${rig.queue}*`)
  await rig.services.redis.del(keys)
  await rig.rows('UPDATE queues SET created_at = created_at - INTERVAL 1 MINUTE')

  // Redis says that nothing is left, but nobody may believe it.
  await finishRuns(rig.services, always)
  expect((await getRun(rig.services, id)).state).toBe('running')
  const { epoch } = (await rig.rows<{ epoch: number }>('SELECT epoch FROM dispatcher'))[0]!
  await guardEpoch(rig.services, always)
  expect(await rig.rows('SELECT epoch FROM dispatcher')).toEqual([{ epoch: epoch + 1 }])
  await guardEpoch(rig.services, always)
  expect(await rig.rows('SELECT epoch FROM dispatcher')).toEqual([{ epoch: epoch + 1 }])

  const second = await work(rig, (url) => ({ links: links(url) }))
  expect([...first, ...second].sort()).toEqual([...all].sort())
  await finishRuns(rig.services, always)
  expect(await getRun(rig.services, id)).toMatchObject({ state: 'finished', admitted: 60, done: 60 })
  expect(await auditRun(rig.services, id)).toMatchObject({ ok: true })
})
