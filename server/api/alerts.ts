import { z } from 'zod'
import { channelSchema, deleteChannel, listChannels, saveChannel } from '../alerts/channel-settings'
import { replay, testChannel } from '../alerts/deliver'
import { ruleSchema, saveRule, silenceRule } from '../alerts/rule-settings'
import { viewDeliveries, viewFiring, viewHistory, viewRules } from './alert-views'
import { adminProcedure, operatorProcedure, router, viewerProcedure } from './trpc'

const id = z.number().int().positive()
const page = z
  .strictObject({
    /** Id of the last one seen. */
    cursor: id.nullish(),
    limit: z.number().int().min(1).max(200).default(50),
  })
  .prefault({})

export const alertsRouter = router({
  /** What fires now. */
  firing: viewerProcedure.query(({ ctx }) => viewFiring(ctx.services)),

  /** Alerts of the last 90 days, newest first. */
  history: viewerProcedure
    .input(page)
    .query(({ ctx, input }) => viewHistory(ctx.services, input.cursor ?? undefined, input.limit)),

  rules: viewerProcedure.query(({ ctx }) => viewRules(ctx.services)),

  /** Channels, without their secrets. */
  channels: viewerProcedure.query(({ ctx }) => listChannels(ctx.services)),

  /** Messages of the last 90 days with their tries, newest first. */
  deliveries: viewerProcedure
    .input(page)
    .query(({ ctx, input }) => viewDeliveries(ctx.services, input.cursor ?? undefined, input.limit)),

  /** Sends nothing for a rule until then (ms since 1970); null ends the silence. */
  silence: operatorProcedure
    .input(z.strictObject({ kind: ruleSchema.shape.kind, until: z.number().int().positive().nullable() }))
    .mutation(({ ctx, input }) =>
      silenceRule(
        ctx.services,
        input.kind,
        input.until === null ? null : new Date(input.until),
        ctx.person.email,
      ),
    ),

  /** Sends a message again, under its own id. */
  replay: operatorProcedure
    .input(z.strictObject({ id }))
    .mutation(({ ctx, input }) => replay(ctx.services, input.id, ctx.person.email)),

  saveRule: adminProcedure
    .input(ruleSchema)
    .mutation(({ ctx, input }) => saveRule(ctx.services, input, ctx.person.email)),

  /** @returns the id, a new one where none was given. */
  saveChannel: adminProcedure.input(channelSchema).mutation(async ({ ctx, input }) => ({
    id: await saveChannel(ctx.services, input, ctx.person.email),
  })),

  /** Sends a test now. @returns what the other side answered. */
  testChannel: adminProcedure
    .input(z.strictObject({ id }))
    .mutation(({ ctx, input }) => testChannel(ctx.services, input.id, ctx.person.email)),

  deleteChannel: adminProcedure
    .input(z.strictObject({ id }))
    .mutation(({ ctx, input }) => deleteChannel(ctx.services, input.id, ctx.person.email)),
})
