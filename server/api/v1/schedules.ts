import { z } from 'zod'
import { RUN_STATES } from '../../../drizzle/schema/crawl'
import { cursorOf, id, limit, pageOf, queueName, spiderName, time, toCursor } from './fields'
import { operation } from './operation'
import { spiderId } from './spiders'

const fire = z
  .object({
    id,
    fireAt: time,
    kind: z.enum(['fired', 'queued', 'skipped', 'missed']),
    reason: z.string().nullable(),
    runId: id.nullable(),
    runState: z.enum(RUN_STATES).nullable(),
  })
  .meta({ id: 'Fire' })

const overlap = z.enum(['skip', 'queue', 'parallel'])
const missed = z.enum(['skip', 'once', 'all'])
const schedule = z
  .object({
    id,
    name: z.string(),
    spider: z.string().nullable().describe('Null when it is gone.'),
    queue: z.string(),
    cron: z.string(),
    zone: z.string(),
    overlap,
    missed,
    enabled: z.boolean(),
    reading: z.string().nullable().describe('What the expression says in words.'),
    next: z.array(time).describe('The next five fires; none while it is stopped.'),
    last: fire.nullable().describe('The newest time that it was due.'),
  })
  .meta({ id: 'Schedule' })

const filter = {
  search: z.string().trim().max(191).optional().describe('Part of the name.'),
  queue: queueName.optional(),
}
const settings = {
  name: z.string().trim().min(1).max(191),
  spider: spiderName,
  queue: queueName,
  cron: z.string().trim().min(1).max(120).describe('Five or six fields.'),
  zone: z.string().min(1).max(64).optional().describe('IANA name; absent: TZ of the installation.'),
  overlap: overlap.optional().describe('What a fire does while an earlier run goes on; `skip` if absent.'),
  missed: missed.optional().describe('What becomes of fires that nobody was there for; `once` if absent.'),
  enabled: z.boolean().optional(),
}

const tag = 'Schedules'
const path = { schedule: id }

export const scheduleOperations = [
  operation({
    id: 'listSchedules',
    route: 'GET /schedules',
    tag,
    role: 'viewer',
    summary: 'Schedules, by name',
    query: {
      ...filter,
      enabled: z.boolean().optional(),
      cursor: cursorOf(z.strictObject({ name: z.string().max(191), id })),
      limit: limit(),
    },
    output: pageOf(schedule),
    call: async (api, input) => {
      const { schedules, next } = await api.schedules.list(input)
      return { data: schedules, next: toCursor(next) }
    },
  }),
  operation({
    id: 'createSchedule',
    route: 'POST /schedules',
    tag,
    role: 'operator',
    summary: 'Make a schedule',
    body: z.strictObject(settings),
    once: true,
    status: 201,
    output: schedule,
    call: async (api, _, { spider, ...body }) => {
      const { id } = await api.schedules.save({ ...body, spider: await spiderId(api, spider) })
      return api.schedules.get({ id })
    },
  }),
  operation({
    id: 'previewSchedule',
    route: 'POST /schedules/preview',
    tag,
    role: 'viewer',
    summary: 'The next instants of an expression, before it is saved',
    body: z.strictObject({
      cron: z.string().min(1).max(120),
      zone: z.string().min(1).max(64),
      count: z.number().int().min(1).max(50).default(5),
    }),
    output: z.object({ reading: z.string().nullable(), fires: z.array(time) }),
    call: (api, _, body) => api.schedules.preview(body),
  }),
  operation({
    id: 'readSchedule',
    route: 'GET /schedules/{schedule}',
    tag,
    role: 'viewer',
    summary: 'One schedule',
    path,
    output: schedule,
    call: (api, { schedule }) => api.schedules.get({ id: schedule }),
  }),
  operation({
    id: 'changeSchedule',
    route: 'PUT /schedules/{schedule}',
    tag,
    role: 'operator',
    summary: 'Replace a schedule',
    path,
    body: z.strictObject(settings),
    output: schedule,
    call: async (api, { schedule }, { spider, ...body }) => {
      await api.schedules.save({ id: schedule, ...body, spider: await spiderId(api, spider) })
      return api.schedules.get({ id: schedule })
    },
  }),
  operation({
    id: 'deleteSchedule',
    route: 'DELETE /schedules/{schedule}',
    tag,
    role: 'admin',
    summary: 'Remove a schedule',
    path,
    call: async (api, { schedule }) => {
      await api.schedules.delete({ id: schedule })
    },
  }),
  ...(['enable', 'disable'] as const).map((verb) =>
    operation({
      id: `${verb}Schedule`,
      route: `POST /schedules/{schedule}/${verb}`,
      tag,
      role: 'operator',
      summary: verb === 'enable' ? 'Let a schedule fire' : 'Stop a schedule',
      path,
      call: (api, { schedule }) => api.schedules.enable({ id: schedule, enabled: verb === 'enable' }),
    }),
  ),
  operation({
    id: 'enableSchedules',
    route: 'POST /schedules/enable',
    tag,
    role: 'operator',
    summary: 'Stop all schedules that match, or let them fire',
    description: 'Without a filter: all there are.',
    body: z.strictObject({ ...filter, enabled: z.boolean() }),
    output: z.object({ changed: z.number().int() }),
    call: (api, _, body) => api.schedules.enableMatching(body),
  }),
  operation({
    id: 'runSchedule',
    route: 'POST /schedules/{schedule}/run',
    tag,
    role: 'operator',
    summary: 'Start a run of a schedule now',
    path,
    once: true,
    status: 201,
    output: z.object({ run: id }),
    call: (api, { schedule }) => api.schedules.run({ id: schedule }),
  }),
  operation({
    id: 'listFires',
    route: 'GET /schedules/{schedule}/fires',
    tag,
    role: 'viewer',
    summary: 'What became of each time a schedule was due, newest first',
    path,
    query: { cursor: cursorOf(z.number().int()), limit: limit() },
    output: pageOf(fire),
    call: async (api, { schedule, ...page }) => {
      const { fires, next } = await api.schedules.fires({ schedule, ...page })
      return { data: fires, next: toCursor(next) }
    },
  }),
]
