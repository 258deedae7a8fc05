import { afterAll, beforeAll, expect, test } from 'vitest'
import { DEFAULT_SPIDER } from '../../core/spider'
import { runs } from '../../drizzle/schema/crawl'
import { samples } from '../../drizzle/schema/fleet'
import { consoleServices } from '../../tests/console-services'
import type { Services } from '../context'
import { readHistory } from './history'
import { viewRun, viewRuns } from './run-views'

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
