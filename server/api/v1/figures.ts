import { z } from 'zod'
import { RANGES } from '../history'
import { id, pageOf, queueName, time, whole } from './fields'
import { operation } from './operation'

const count = z.number().int()
const share = z.number().min(0).max(1).nullable().describe('0 to 1; null when nothing ended.')
const figures = z
  .object({
    at: time,
    queues: z.array(
      z.object({
        name: z.string(),
        inbox: count,
        pending: count,
        running: count,
        retry: count,
        failed: count,
        paused: z.boolean(),
        draining: z.boolean(),
      }),
    ),
    backlog: count.describe('URLs that wait: inbox, pending and retry of all queues.'),
    running: count,
    pagesPerSecond: z.number().nullable().describe('Over the last ten seconds.'),
    successRate: share,
    lastHour: z.object({ done: count, failed: count }),
    workers: count,
    restarts: count.describe('Of the last 24 hours.'),
    outOfMemory: count.describe('Those of them for lack of memory.'),
  })
  .meta({ id: 'Figures' })
const point = z
  .object({
    at: time,
    backlog: z.number(),
    running: z.number(),
    pagesPerSecond: z.number().nullable(),
    successRate: share,
    restarts: count,
  })
  .meta({ id: 'HistoryPoint' })

const tag = 'Figures'

export const figureOperations = [
  operation({
    id: 'readFigures',
    route: 'GET /figures',
    tag,
    role: 'viewer',
    summary: 'The state of everything at this moment',
    description: '`/metrics` has the same for Prometheus, and takes the same keys.',
    output: figures,
    call: (api) => api.samples.now(),
  }),
  operation({
    id: 'readHistory',
    route: 'GET /figures/history',
    tag,
    role: 'viewer',
    summary: 'Backlog and throughput of the past, oldest first',
    query: { range: z.enum(RANGES), queue: queueName.optional().describe('Absent: all queues together.') },
    output: pageOf(point),
    call: async (api, input) => whole(await api.samples.history(input)),
  }),
  operation({
    id: 'readFailures',
    route: 'GET /figures/failures',
    tag,
    role: 'viewer',
    summary: 'What is behind the failures of the last hour',
    output: z.object({
      total: count.describe('Failures that were looked at.'),
      reasons: z.array(z.object({ reason: z.string(), detail: z.string().nullable(), count })),
      hosts: z.array(z.object({ host: z.string(), count, reason: z.string() })),
      run: id.nullable().describe('The run with most of them.'),
    }),
    call: (api) => api.samples.failures(),
  }),
  operation({
    id: 'readGrowth',
    route: 'GET /figures/growth',
    tag,
    role: 'viewer',
    summary: 'Queues whose backlog has grown for five minutes',
    output: pageOf(
      z.object({
        queue: z.string(),
        from: count,
        to: count,
        workers: count,
        load: z.number().nullable().describe('Share of the workers’ places that are taken.'),
        suggested: count.nullable().describe('Workers to ask for; null when more would not help.'),
      }),
    ),
    call: async (api) => whole(await api.samples.growth()),
  }),
]
