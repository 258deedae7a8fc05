import { z } from 'zod'
import { RUN_STATES } from '../../../drizzle/schema/crawl'
import { pageFilter } from '../../services/page-filter'
import { cursorOf, hash, id, limit, pageOf, queueName, spiderName, time, toCursor, url } from './fields'
import { operation } from './operation'
import { spiderId } from './spiders'

const count = z.number().int()
const run = z
  .object({
    id,
    spider: z.string(),
    queue: z.string(),
    state: z.enum(RUN_STATES).describe('Over with `finished`, `cancelled` and `failed`.'),
    trigger: z.enum(['manual', 'schedule', 'cli', 'inbox']),
    startedBy: z.string().nullable(),
    error: z.string().nullable(),
    createdAt: time,
    finishedAt: time.nullable(),
    counts: z
      .object({
        admitted: count,
        pending: count,
        running: count,
        retry: count,
        done: count,
        failed: count,
        ignored: count,
        cancelled: count,
      })
      .describe('Pages: admitted is the sum of the others.'),
    items: count,
    pagesPerSecond: z.number().nullable(),
  })
  .meta({ id: 'Run' })

const tag = 'Runs'
const path = { run: id }

export const runOperations = [
  operation({
    id: 'listRuns',
    route: 'GET /runs',
    tag,
    role: 'viewer',
    summary: 'Runs, newest first',
    query: { cursor: cursorOf(id), limit: limit() },
    output: pageOf(run),
    call: async (api, input) => {
      const { runs, next } = await api.runs.list(input)
      return { data: runs, next: toCursor(next) }
    },
  }),
  operation({
    id: 'startRun',
    route: 'POST /runs',
    tag,
    role: 'operator',
    summary: 'Start a run',
    description: 'It begins with the URL given, else with the seeds of its spider.',
    body: z.strictObject({
      spider: spiderName.optional().describe('Absent: the built-in one.'),
      url: url.optional(),
      queue: queueName.optional().describe('Absent: QUEUE_KEY of the installation.'),
    }),
    once: true,
    status: 201,
    output: run,
    call: async (api, _, { spider, ...body }) => {
      const { id } = await api.runs.start({
        ...body,
        ...(spider !== undefined && { spider: await spiderId(api, spider) }),
      })
      return api.runs.get({ id })
    },
  }),
  operation({
    id: 'readRun',
    route: 'GET /runs/{run}',
    tag,
    role: 'viewer',
    summary: 'One run with its counts of this moment',
    path,
    output: run,
    call: (api, { run }) => api.runs.get({ id: run }),
  }),
  operation({
    id: 'cancelRun',
    route: 'POST /runs/{run}/cancel',
    tag,
    role: 'operator',
    summary: 'End a run',
    description:
      'At once nothing of it is begun any more. The state is `cancelling` until it is `cancelled`.',
    path,
    output: z.object({ state: z.enum(RUN_STATES) }),
    call: (api, { run }) => api.runs.cancel({ id: run }),
  }),
  operation({
    id: 'readRevisits',
    route: 'GET /runs/{run}/revisits',
    tag,
    role: 'viewer',
    summary: 'How the pages of a run compare with the visit before',
    path,
    output: z.object({
      unchanged: count.describe('As they were: their items stand in an earlier run.'),
      gone: count.describe('There the last time, and not any more.'),
      notDue: count.describe('Passed over, because their next visit is not due.'),
    }),
    call: (api, { run }) => api.runs.revisits({ id: run }),
  }),
  operation({
    id: 'retryPages',
    route: 'POST /runs/{run}/retry',
    tag,
    role: 'operator',
    summary: 'Give failed pages of a run another chance',
    path,
    body: z.strictObject({
      hashes: z.array(hash).min(1).max(500).optional().describe('These alone.'),
      filter: pageFilter
        .omit({ state: true })
        .optional()
        .describe('All failed ones that answer to it; {}: all.'),
    }),
    once: true,
    output: z.object({ retried: count.describe('Pages that wait again.') }),
    call: async (api, { run }, body) => ({ retried: await api.runs.redrive({ id: run, ...body }) }),
  }),
]
