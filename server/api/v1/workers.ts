import { z } from 'zod'
import { MOST_WORKERS } from '../../services/scale-limits'
import { cursorOf, id, limit, pageOf, queueName, time, toCursor, whole } from './fields'
import { operation } from './operation'

const count = z.number().int()
const kind = z.enum(['http', 'render'])
const worker = z
  .object({
    id: z.string(),
    kind,
    queue: z.string(),
    hostname: z.string(),
    pid: count,
    state: z.enum(['running', 'draining', 'stopped', 'lost']),
    running: count.describe('Pages in work at its last heartbeat.'),
    concurrency: count.nullable(),
    done: count,
    failed: count,
    rssBytes: count,
    startedAt: time,
    heartbeatAt: time,
    stoppedAt: time.nullable(),
  })
  .meta({ id: 'Worker' })
const event = z
  .object({
    id,
    workerId: z.string(),
    queue: z.string(),
    kind: z.enum(['start', 'stop', 'lost', 'restart', 'oom']),
    detail: z.string().nullable(),
    at: time,
  })
  .meta({ id: 'WorkerEvent' })
const request = z
  .object({
    id,
    queue: z.string(),
    kind,
    previous: count.describe('Workers alive when it was asked for.'),
    wanted: count,
    reason: z.string().nullable(),
    state: z.enum(['waiting', 'running', 'done', 'failed', 'superseded']),
    detail: z.string().nullable().describe('Progress, then result.'),
    author: z.string().nullable(),
    createdAt: time,
    finishedAt: time.nullable(),
  })
  .meta({ id: 'ScaleRequest' })
const workers = count.min(0).max(MOST_WORKERS)
const limits = {
  fewest: workers,
  most: workers,
  perMinute: workers.min(1).nullable().describe('Largest swing within a minute; null for any.'),
  auto: z.boolean().describe('Whether the scheduler asks by itself.'),
  upSeconds: count.min(10).max(86_400),
  downSeconds: count.min(10).max(86_400),
}

const tag = 'Workers'

export const workerOperations = [
  operation({
    id: 'listWorkers',
    route: 'GET /workers',
    tag,
    role: 'viewer',
    summary: 'Workers, the one that was heard of last in front',
    query: {
      show: z.enum(['alive', 'gone']).default('alive'),
      queue: queueName.optional(),
      cursor: cursorOf(z.strictObject({ at: count, id: z.string().max(100) })),
      limit: limit(),
    },
    output: pageOf(worker),
    call: async (api, input) => {
      const { workers, next } = await api.workers.list(input)
      return { data: workers, next: toCursor(next) }
    },
  }),
  operation({
    id: 'listWorkerEvents',
    route: 'GET /workers/events',
    tag,
    role: 'viewer',
    summary: 'Starts, stops and losses of workers, newest first',
    query: { restartsOnly: z.boolean().default(false), cursor: cursorOf(id), limit: limit() },
    output: pageOf(event),
    call: async (api, input) => {
      const { events, next } = await api.workers.events(input)
      return { data: events, next: toCursor(next) }
    },
  }),
  operation({
    id: 'listScaleRequests',
    route: 'GET /scale-requests',
    tag,
    role: 'viewer',
    summary: 'Requests for workers, newest first',
    query: { queue: queueName.optional(), cursor: cursorOf(id), limit: limit() },
    output: pageOf(request),
    call: async (api, input) => {
      const { requests, next } = await api.scale.list(input)
      return { data: requests, next: toCursor(next) }
    },
  }),
  operation({
    id: 'requestScale',
    route: 'POST /scale-requests',
    tag,
    role: 'operator',
    summary: 'Ask for a number of workers on a queue',
    description: 'The scaler carries it out; the newest request of a queue counts.',
    body: z.strictObject({
      queue: queueName,
      wanted: workers,
      reason: z.string().trim().max(500).optional(),
    }),
    once: true,
    status: 202,
    output: request,
    call: async (api, _, body) => {
      const { createdAt, finishedAt, ...row } = await api.scale.request(body)
      return { ...row, createdAt: createdAt.getTime(), finishedAt: finishedAt?.getTime() ?? null }
    },
  }),
  operation({
    id: 'listScaleLimits',
    route: 'GET /scale-limits',
    tag,
    role: 'viewer',
    summary: 'How far requests of each queue may go',
    output: pageOf(z.object({ queue: z.string(), ...limits })),
    call: async (api) => whole(await api.scale.limits()),
  }),
  operation({
    id: 'setScaleLimits',
    route: 'PUT /scale-limits/{queue}',
    tag,
    role: 'operator',
    summary: 'Set how far requests of a queue may go',
    path: { queue: queueName },
    body: z.strictObject(limits),
    call: (api, { queue }, body) => api.scale.setLimits({ queue, limits: body }),
  }),
]
