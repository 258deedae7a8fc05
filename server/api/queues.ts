import { TRPCError } from '@trpc/server'
import { z } from 'zod'
import { PROXY_ROTATIONS } from '../../core/proxy-address'
import { enqueueChecked } from '../services/enqueue-checked'
import { addProxies, listProxies, MOST_AT_ONCE, removeProxy } from '../services/proxies'
import { purgeQueue } from '../services/purge'
import { setHostDelay, viewHosts } from '../services/queue-hosts'
import { configureQueue, drainQueue, pauseQueue, quietHoursSchema, resumeQueue } from '../services/queues'
import { whyWaiting } from '../services/why'
import { viewQueues } from './queue-views'
import { adminProcedure, operatorProcedure, router, viewerProcedure } from './trpc'

const name = z.string().min(1).max(64)
const host = z.string().min(1).max(300)

export const queuesRouter = router({
  list: viewerProcedure.query(({ ctx }) => viewQueues(ctx.services)),

  get: viewerProcedure.input(z.strictObject({ name })).query(async ({ ctx, input }) => {
    const queue = (await viewQueues(ctx.services)).find((one) => one.name === input.name)
    if (!queue) throw new TRPCError({ code: 'NOT_FOUND', message: `There is no queue "${input.name}".` })
    return queue
  }),

  configure: operatorProcedure
    .input(
      z.strictObject({
        name,
        settings: z.strictObject({
          delayMs: z.number().int().min(0).max(86_400_000).optional(),
          perHost: z.number().int().min(1).max(1000).optional(),
          concurrency: z.number().int().min(1).max(1000).optional(),
          maxRunning: z.number().int().min(1).max(1_000_000).nullable().optional(),
          adaptive: z.boolean().optional(),
          quiet: quietHoursSchema.nullable().optional(),
          proxies: z.enum(PROXY_ROTATIONS).optional(),
          addressDelayMs: z.number().int().min(1).max(86_400_000).nullable().optional(),
        }),
      }),
    )
    .mutation(async ({ ctx, input }) => {
      await configureQueue(ctx.services, input.name, input.settings, ctx.person.email)
    }),

  pause: operatorProcedure.input(z.strictObject({ name })).mutation(async ({ ctx, input }) => {
    await pauseQueue(ctx.services, input.name, ctx.person.email)
  }),

  resume: operatorProcedure.input(z.strictObject({ name })).mutation(async ({ ctx, input }) => {
    await resumeQueue(ctx.services, input.name, ctx.person.email)
  }),

  /** Leaves the inbox and new runs alone, and works off what is there. */
  drain: operatorProcedure.input(z.strictObject({ name })).mutation(async ({ ctx, input }) => {
    await drainQueue(ctx.services, input.name, ctx.person.email)
  }),

  /** Drops at most `confirmed` of what waits: the number that the person was shown and typed. */
  purge: operatorProcedure
    .input(z.strictObject({ name, confirmed: z.number().int().min(1).max(1_000_000_000) }))
    .mutation(({ ctx, input }) => purgeQueue(ctx.services, input.name, input.confirmed, ctx.person.email)),

  /** Pushes URLs to the inbox. @returns a verdict for each, in their order. */
  enqueue: operatorProcedure
    .input(
      z.strictObject({
        name,
        urls: z
          .array(
            z.union([
              z.string(),
              z.strictObject({
                url: z.string(),
                spider: z.string().optional(),
                priority: z.number().optional(),
                depth: z.number().optional(),
                meta: z.unknown().optional(),
              }),
            ]),
          )
          .min(1)
          .max(10_000),
      }),
    )
    .mutation(({ ctx, input }) => enqueueChecked(ctx.services, input.name, input.urls, ctx.person.email)),

  /** Hosts with work, by name; `cursor` is the last one seen. */
  hosts: viewerProcedure
    .input(
      z.strictObject({
        name,
        prefix: z.string().trim().toLowerCase().max(300).optional(),
        cursor: host.nullish(),
        limit: z.number().int().min(1).max(100).default(20),
      }),
    )
    .query(({ ctx, input: { name, prefix, cursor, limit } }) =>
      viewHosts(ctx.services, name, {
        limit,
        ...(prefix && { prefix }),
        ...(cursor && { after: cursor }),
      }),
    ),

  /** A host's own delay instead of the queue's, in milliseconds; null takes it back. */
  setHostDelay: operatorProcedure
    .input(z.strictObject({ name, host, delayMs: z.number().int().min(0).max(86_400_000).nullable() }))
    .mutation(({ ctx, input }) =>
      setHostDelay(ctx.services, input.name, input.host, input.delayMs, ctx.person.email),
    ),

  /** Proxies of the queue without what is secret of them, and how they do. */
  proxies: viewerProcedure
    .input(z.strictObject({ name }))
    .query(({ ctx, input }) => listProxies(ctx.services, input.name)),

  /** Tries each, and takes those that serve. For administrators: the server connects to whatever they write. */
  addProxies: adminProcedure
    .input(
      z.strictObject({ name, lines: z.array(z.string().trim().min(1).max(2000)).min(1).max(MOST_AT_ONCE) }),
    )
    .mutation(({ ctx, input }) => addProxies(ctx.services, input.name, input.lines, ctx.person.email)),

  removeProxy: adminProcedure
    .input(z.strictObject({ name, id: z.number().int().positive() }))
    .mutation(({ ctx, input }) => removeProxy(ctx.services, input.name, input.id, ctx.person.email)),

  /** Why a URL waits, or what became of it. */
  why: viewerProcedure
    .input(
      z.strictObject({
        name,
        url: z.string().trim().min(1).max(8192),
        run: z.number().int().positive().optional(),
      }),
    )
    .query(({ ctx, input }) =>
      whyWaiting(ctx.services, { queue: input.name, url: input.url, run: input.run }),
    ),
})
