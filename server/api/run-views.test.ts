import { afterAll, beforeAll, expect, test } from 'vitest'
import { DEFAULT_SPIDER } from '../../core/spider'
import { urlHash } from '../../core/url'
import { runs } from '../../drizzle/schema/crawl'
import { samples } from '../../drizzle/schema/fleet'
import { pages } from '../../drizzle/schema/pages'
import { consoleServices } from '../../tests/console-services'
import type { Services } from '../context'
import { select } from '../db'
import { readHistory } from './history'
import { type PageCursor, viewPages, viewRun, viewRuns } from './run-views'

let services: Services
let end: () => Promise<void>

beforeAll(async () => {
  ;({ services, end } = await consoleServices())
})
afterAll(() => end())

const over = (more: Partial<typeof runs.$inferInsert> = {}) => ({
  spiderId: 1,
  queue: 'q',
  definition: DEFAULT_SPIDER,
  state: 'finished' as const,
  trigger: 'manual' as const,
  createdAt: new Date('2026-05-01T10:00:00Z'),
  finishedAt: new Date('2026-05-01T10:01:40Z'),
  ...more,
})

test('paging through the runs shows each once, newest first', async () => {
  await services.database.orm.insert(runs).values(Array.from({ length: 7 }, () => over()))
  const seen: number[] = []
  for (let before: number | undefined; ; ) {
    const page = await viewRuns(services, { before, limit: 3 })
    seen.push(...page.runs.map((run) => run.id))
    if (page.next === null) break
    before = page.next
  }
  expect(seen).toHaveLength(7)
  expect(seen).toEqual([...new Set(seen)].sort((a, b) => b - a))
})

test('a run that is over shows its record, with the speed over its whole time', async () => {
  const [{ insertId }] = await services.database.orm
    .insert(runs)
    .values(over({ admitted: 260, done: 240, failed: 6, ignored: 4, cancelled: 10, items: 300 }))
  expect(await viewRun(services, insertId)).toMatchObject({
    counts: { admitted: 260, done: 240, failed: 6, ignored: 4, cancelled: 10, pending: 0 },
    items: 300,
    pagesPerSecond: 2.5,
  })
  expect(await viewRun(services, insertId + 1)).toBeNull()
})

test('paging through pages of one instant misses none and repeats none, in all states or one', async () => {
  const states = ['done', 'failed', 'ignored'] as const
  const rows = Array.from({ length: 90 }, (_, n) => {
    const url = `https://example.com/${n}`
    return {
      runId: 500,
      urlHash: urlHash(url),
      url,
      state: states[n % 3]!,
      depth: 1,
      attempts: 0,
      deliveries: 1,
      items: n % 4,
      token: '1.1',
      fetchedAt: new Date(Date.UTC(2026, 4, 1, 10, 0, n % 2)),
    }
  })
  await services.database.orm.insert(pages).values(rows)
  for (const state of [undefined, 'failed'] as const) {
    const seen: string[] = []
    for (let after: PageCursor | undefined; ; ) {
      const page = await viewPages(services, { run: 500, state, after, limit: 7 })
      seen.push(...page.pages.map((one) => one.url))
      if (!page.next) break
      after = page.next
    }
    const expected = rows.filter((row) => state === undefined || row.state === state).map((row) => row.url)
    expect(seen.toSorted()).toEqual(expected.toSorted())
  }
})

test('the newest pages are read from the index in its own order, without sorting the run', async () => {
  const plan = await select<{ key: string; Extra: string }>(
    services.database.pool,
    "EXPLAIN SELECT url FROM pages WHERE run_id = 500 AND state = 'done' ORDER BY fetched_at DESC, items DESC, url_hash DESC LIMIT 51",
  )
  expect(plan[0]!.key).toBe('pages_state')
  expect(plan[0]!.Extra).not.toContain('filesort')
})

test('the history sums queues, and speaks of speed only where the minute before is known', async () => {
  const minute = Math.floor(Date.now() / 60_000) * 60_000
  const sample = (queue: string, ago: number, pending: number, doneTotal: number) => ({
    queue,
    at: new Date(minute - ago * 60_000),
    inbox: 1,
    pending,
    running: 2,
    retry: 0,
    dead: 0,
    doneTotal,
    failedTotal: 0,
    ignoredTotal: 0,
    workers: 1,
    restarts: 0,
  })
  await services.database.orm
    .insert(samples)
    .values([
      sample('a', 3, 10, 0),
      sample('a', 2, 20, 600),
      sample('a', 0, 30, 700),
      sample('b', 3, 100, 50),
      sample('b', 2, 100, 110),
    ])
  const points = await readHistory(services, '1h')
  expect(
    points.map(({ backlog, running, pagesPerSecond }) => ({ backlog, running, pagesPerSecond })),
  ).toEqual([
    { backlog: 112, running: 4, pagesPerSecond: null },
    { backlog: 122, running: 4, pagesPerSecond: 11 },
    { backlog: 31, running: 2, pagesPerSecond: null },
  ])
  expect((await readHistory(services, '1h', 'b')).map((point) => point.backlog)).toEqual([101, 101])
})
