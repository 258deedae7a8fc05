import { z } from 'zod'
import { PROXY_ROTATIONS } from '../../../core/proxy-address'
import { STATES } from '../../../core/queue/states'
import { MOST_AT_ONCE } from '../../services/proxies'
import { quietHoursSchema } from '../../services/queues'
import { cursorOf, id, limit, pageOf, queueName, time, toCursor, url, whole } from './fields'
import { operation, type Procedures } from './operation'
import { MANY_URLS_BYTES } from './seeds'

const count = z.number().int()
const settings = {
  delayMs: count.describe('Between two fetch starts on one host, over all workers.'),
  perHost: count.describe('Fetches at once on one host, where there is no delay.'),
  concurrency: count.describe('Fetches at once in each worker.'),
  maxRunning: count.nullable().describe('Fetches at once over all workers; null for no limit.'),
  adaptive: z.boolean().describe('Whether each host’s delay follows how it answers.'),
  quiet: quietHoursSchema.nullable().describe('When nothing is fetched each day; null for never.'),
  proxies: z.enum(PROXY_ROTATIONS).describe('How the next proxy is chosen, where there are any.'),
}
const queue = z
  .object({
    name: z.string(),
    kind: z.enum(['http', 'render']),
    ...settings,
    paused: z.boolean(),
    draining: z.boolean(),
    updatedAt: time,
    workers: count.describe('Heard of within the last 30 s.'),
  })
  .meta({ id: 'Queue' })
const host = z
  .object({
    host: z.string(),
    pending: count,
    running: count,
    nextAt: z.number().describe('Nothing from it before, in ms since 1970: spacing; 0 for never asked.'),
    heldUntil: z.number().describe('The same, because it asked for that (Retry-After).'),
    ownDelayMs: z.number().describe('Its own least delay (robots.txt).'),
    rateMs: z.number().nullable().describe('An operator’s delay in place of the queue’s.'),
    lastError: z
      .object({ reason: z.string(), status: count.nullable(), detail: z.string().nullable(), at: time })
      .nullable(),
  })
  .meta({ id: 'Host' })
const proxy = z
  .object({
    id,
    shown: z.string().describe('Its address without what is secret.'),
    author: z.string(),
    score: z.number().describe('How well it serves, from 0 to 1.'),
    restsUntil: time.nullable().describe('Null: it does not rest.'),
    uses: count,
  })
  .meta({ id: 'Proxy' })

const entry = z.union([
  z.string(),
  z.strictObject({
    url: z.string(),
    spider: z.string().max(64).optional().describe('Absent: the built-in one.'),
    priority: count.optional().describe('−1000 to 1000; the highest goes first.'),
    depth: count.optional(),
    meta: z.unknown().optional().describe('Handed on to the items unread.'),
  }),
])

const tag = 'Queues'
const path = { queue: queueName }

interface Switch {
  verb: 'pause' | 'resume' | 'drain'
  summary: string
  turn(api: Procedures, name: string): Promise<unknown>
}
const SWITCHES: readonly Switch[] = [
  {
    verb: 'pause',
    summary: 'Begin no page of a queue any more',
    turn: (api, name) => api.queues.pause({ name }),
  },
  {
    verb: 'resume',
    summary: 'Let a queue go on after a pause or a drain',
    turn: (api, name) => api.queues.resume({ name }),
  },
  {
    verb: 'drain',
    summary: 'Take nothing new into a queue, and work off what is there',
    turn: (api, name) => api.queues.drain({ name }),
  },
]

export const queueOperations = [
  operation({
    id: 'listQueues',
    route: 'GET /queues',
    tag,
    role: 'viewer',
    summary: 'All queues with their settings',
    description: 'Their lengths are in `GET /figures`.',
    output: pageOf(queue),
    call: async (api) => whole(await api.queues.list()),
  }),
  operation({
    id: 'readQueue',
    route: 'GET /queues/{queue}',
    tag,
    role: 'viewer',
    summary: 'One queue with its settings',
    path,
    output: queue,
    call: (api, { queue }) => api.queues.get({ name: queue }),
  }),
  operation({
    id: 'changeQueue',
    route: 'PATCH /queues/{queue}',
    tag,
    role: 'operator',
    summary: 'Change settings of a queue',
    description: 'What is left out stays. Running workers obey within 2 s.',
    path,
    body: z.strictObject({
      delayMs: settings.delayMs.min(0).max(86_400_000).optional(),
      perHost: settings.perHost.min(1).max(1000).optional(),
      concurrency: settings.concurrency.min(1).max(1000).optional(),
      maxRunning: count.min(1).max(1_000_000).nullable().optional(),
      adaptive: settings.adaptive.optional(),
      quiet: settings.quiet.optional(),
      proxies: settings.proxies.optional(),
    }),
    output: queue,
    call: async (api, { queue }, settings) => {
      await api.queues.configure({ name: queue, settings })
      return api.queues.get({ name: queue })
    },
  }),
  ...SWITCHES.map(({ verb, summary, turn }) =>
    operation({
      id: `${verb}Queue`,
      route: `POST /queues/{queue}/${verb}`,
      tag,
      role: 'operator',
      summary,
      path,
      output: queue,
      call: async (api, { queue }) => {
        await turn(api, queue)
        return api.queues.get({ name: queue })
      },
    }),
  ),
  operation({
    id: 'purgeQueue',
    route: 'POST /queues/{queue}/purge',
    tag,
    role: 'operator',
    summary: 'Drop what waits in a queue',
    path,
    body: z.strictObject({
      confirmed: count
        .min(1)
        .max(1_000_000_000)
        .describe('At most so many: the number that is known to wait.'),
    }),
    once: true,
    output: z.object({ cancelled: count, rejected: count.describe('Entries of the inbox.') }),
    call: (api, { queue }, { confirmed }) => api.queues.purge({ name: queue, confirmed }),
  }),
  operation({
    id: 'enqueue',
    route: 'POST /queues/{queue}/urls',
    tag,
    role: 'operator',
    summary: 'Push up to 10,000 URLs to the inbox of a queue',
    description:
      'All that can be crawled are pushed in one step, and each gets a verdict, in their order. What the run has seen before is dropped when a worker takes it in, so a call without an answer can be repeated.',
    path,
    body: z.strictObject({ urls: z.array(entry).min(1).max(10_000) }),
    bodyBytes: MANY_URLS_BYTES,
    output: z.object({
      queued: count,
      verdicts: z.array(
        z.object({
          url: z.string(),
          verdict: z
            .enum(['queued', 'repeated', 'refused'])
            .describe('`repeated`: it stands earlier in this call.'),
          reason: z.string().nullable().describe('Why it was refused.'),
        }),
      ),
    }),
    call: (api, { queue }, { urls }) => api.queues.enqueue({ name: queue, urls }),
  }),
  operation({
    id: 'listHosts',
    route: 'GET /queues/{queue}/hosts',
    tag,
    role: 'viewer',
    summary: 'Hosts with work in a queue, by name',
    path,
    query: {
      prefix: z.string().trim().toLowerCase().max(300).optional().describe('How the name begins.'),
      cursor: cursorOf(z.string().min(1).max(300)),
      limit: limit(100, 20),
    },
    output: pageOf(host),
    call: async (api, { queue, ...input }) => {
      const { hosts, next } = await api.queues.hosts({ name: queue, ...input })
      return { data: hosts, next: toCursor(next) }
    },
  }),
  operation({
    id: 'setHostDelay',
    route: 'PUT /queues/{queue}/hosts/{host}',
    tag,
    role: 'operator',
    summary: 'Give a host a delay of its own',
    path: { ...path, host: z.string().min(1).max(300) },
    body: z.strictObject({
      delayMs: count.min(0).max(86_400_000).nullable().describe('Null: the queue’s again.'),
    }),
    call: (api, { queue, host }, { delayMs }) => api.queues.setHostDelay({ name: queue, host, delayMs }),
  }),
  operation({
    id: 'whyWaiting',
    route: 'GET /queues/{queue}/why',
    tag,
    role: 'viewer',
    summary: 'Why a URL waits, or what became of it',
    path,
    query: { url, run: id.optional().describe('Absent: the newest run that knows the URL.') },
    output: z.object({
      url: z.string(),
      run: id,
      state: z.enum([...STATES, 'cancelled', 'unknown']),
      causes: z
        .array(z.looseObject({ kind: z.string() }))
        .describe(
          'Every limit that keeps it, the nearest first, with what belongs to it. Times are ms since 1970.',
        ),
    }),
    call: (api, { queue, url, run }) => api.queues.why({ name: queue, url, run }),
  }),
  operation({
    id: 'listProxies',
    route: 'GET /queues/{queue}/proxies',
    tag,
    role: 'viewer',
    summary: 'Proxies of a queue, and how they do',
    path,
    output: pageOf(proxy),
    call: async (api, { queue }) => whole(await api.queues.proxies({ name: queue })),
  }),
  operation({
    id: 'addProxies',
    route: 'POST /queues/{queue}/proxies',
    tag,
    role: 'admin',
    summary: 'Give a queue proxies',
    description:
      'Each is tried, and those that serve are taken: from then on everything of the queue goes through its proxies. One that is there gets the new user and password, so a call without an answer can be repeated.',
    path,
    body: z.strictObject({
      proxies: z
        .array(z.string().trim().min(1).max(2000))
        .min(1)
        .max(MOST_AT_ONCE)
        .describe('Such as `socks5://user:password@proxy.example:1080`.'),
    }),
    output: z.object({
      added: count,
      refused: z.array(z.object({ at: count.describe('Place in `proxies`, from 0.'), reason: z.string() })),
    }),
    call: async (api, { queue }, { proxies }) => {
      const { added, refused } = await api.queues.addProxies({ name: queue, lines: proxies })
      return { added, refused: refused.map(({ line, reason }) => ({ at: line - 1, reason })) }
    },
  }),
  operation({
    id: 'removeProxy',
    route: 'DELETE /queues/{queue}/proxies/{proxy}',
    tag,
    role: 'admin',
    summary: 'Take a proxy from a queue',
    description: 'Without any left, everything of the queue goes out directly.',
    path: { ...path, proxy: id },
    call: (api, { queue, proxy }) => api.queues.removeProxy({ name: queue, id: proxy }),
  }),
]
