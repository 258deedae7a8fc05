import { z } from 'zod'
import { CHANNEL_KINDS } from '../../alerts/channels'
import { RULE_KINDS } from '../../alerts/rules'
import { cursorOf, id, instant, limit, pageOf, time, toCursor, whole } from './fields'
import { operation } from './operation'

const count = z.number().int()
const alert = z
  .object({
    id,
    rule: z.string(),
    subject: z.string().describe('Such as `queue:crawl_queue`, `run:7`, or `all`.'),
    state: z.enum(['pending', 'firing', 'resolved']),
    figure: z.number(),
    threshold: z.number(),
    windowMinutes: count,
    facts: z.record(z.string(), z.union([z.string(), z.number()])),
    startedAt: time,
    endedAt: time.nullable(),
  })
  .meta({ id: 'Alert' })
const kind = z.enum(RULE_KINDS as [(typeof RULE_KINDS)[number]])
const rule = z
  .object({
    kind,
    enabled: z.boolean(),
    threshold: z.number(),
    unit: z.enum(['ratio', 'count', 'minutes']),
    windowMinutes: count,
    windowed: z.boolean().describe('Whether the figure looks back over `windowMinutes`.'),
    holdMinutes: count,
    channels: z.array(id).nullable().describe('Ids; null for all that are switched on.'),
    silentUntil: time.nullable(),
  })
  .meta({ id: 'AlertRule' })
const channel = z
  .object({
    id,
    kind: z.enum(CHANNEL_KINDS),
    name: z.string(),
    enabled: z.boolean(),
    shown: z.string().describe('Enough of the address to know it again.'),
  })
  .meta({ id: 'Channel' })
const delivery = z
  .object({
    id,
    alertId: id.nullable(),
    event: z.enum(['firing', 'resolved', 'test']),
    channel: z.string().nullable(),
    state: z.enum(['waiting', 'sending', 'sent', 'dead']),
    attempts: count,
    nextAt: time,
    tries: z.array(z.object({ at: time, ms: z.number(), answer: z.string() })),
    createdAt: time,
  })
  .meta({ id: 'Delivery' })

const tag = 'Alerts'

export const alertOperations = [
  operation({
    id: 'listAlerts',
    route: 'GET /alerts',
    tag,
    role: 'viewer',
    summary: 'Alerts of the last 90 days, newest first',
    query: { cursor: cursorOf(id), limit: limit() },
    output: pageOf(alert),
    call: async (api, input) => {
      const { alerts, next } = await api.alerts.history(input)
      return { data: alerts, next: toCursor(next) }
    },
  }),
  operation({
    id: 'listFiringAlerts',
    route: 'GET /alerts/firing',
    tag,
    role: 'viewer',
    summary: 'What fires now',
    output: pageOf(alert),
    call: async (api) => whole(await api.alerts.firing()),
  }),
  operation({
    id: 'listAlertRules',
    route: 'GET /alerts/rules',
    tag,
    role: 'viewer',
    summary: 'Every rule as it stands',
    output: pageOf(rule),
    call: async (api) => whole(await api.alerts.rules()),
  }),
  operation({
    id: 'changeAlertRule',
    route: 'PUT /alerts/rules/{kind}',
    tag,
    role: 'admin',
    summary: 'Change a rule',
    path: { kind },
    body: z.strictObject({
      enabled: z.boolean(),
      threshold: z.number().min(0).max(1e12),
      windowMinutes: count.min(1).max(10_080),
      holdMinutes: count.min(0).max(1440),
      channels: z.array(id).max(100).nullable(),
    }),
    call: (api, { kind }, body) => api.alerts.saveRule({ kind, ...body }),
  }),
  operation({
    id: 'silenceAlertRule',
    route: 'POST /alerts/rules/{kind}/silence',
    tag,
    role: 'operator',
    summary: 'Send nothing for a rule until then',
    path: { kind },
    body: z.strictObject({ until: instant.nullable().describe('Null ends the silence.') }),
    call: (api, { kind }, { until }) => api.alerts.silence({ kind, until }),
  }),
  operation({
    id: 'listChannels',
    route: 'GET /alerts/channels',
    tag,
    role: 'viewer',
    summary: 'Where alerts are sent, without the secrets',
    description: 'Channels are made and changed in the console alone.',
    output: pageOf(channel),
    call: async (api) => whole(await api.alerts.channels()),
  }),
  operation({
    id: 'listDeliveries',
    route: 'GET /alerts/deliveries',
    tag,
    role: 'viewer',
    summary: 'Messages of the last 90 days with their tries, newest first',
    query: { cursor: cursorOf(id), limit: limit() },
    output: pageOf(delivery),
    call: async (api, input) => {
      const { deliveries, next } = await api.alerts.deliveries(input)
      return { data: deliveries, next: toCursor(next) }
    },
  }),
  operation({
    id: 'replayDelivery',
    route: 'POST /alerts/deliveries/{delivery}/replay',
    tag,
    role: 'operator',
    summary: 'Send a message again that was sent or given up',
    path: { delivery: id },
    once: true,
    call: (api, { delivery }) => api.alerts.replay({ id: delivery }),
  }),
]
