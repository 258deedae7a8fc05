import { z } from 'zod'
import { ROLES } from '../auth'
import {
  changeRole,
  disablePerson,
  enablePerson,
  inviteAgain,
  invitePerson,
  listPeople,
  removePerson,
  resetPassword,
  signOutPerson,
} from '../services/people'
import { requireSecondFactor, resetSecondFactor } from '../services/second-factor'
import { adminProcedure, router } from './trpc'

const id = z.string().min(1).max(36)
const role = z.enum(ROLES)

export const peopleRouter = router({
  list: adminProcedure.query(async ({ ctx }) =>
    (await listPeople(ctx.services)).map((one) => ({
      ...one,
      createdAt: one.createdAt.getTime(),
      disabledAt: one.disabledAt?.getTime() ?? null,
      seenAt: one.seenAt?.getTime() ?? null,
    })),
  ),

  /** Answers with a link that lets its opener in, once, within 24 hours. */
  invite: adminProcedure
    .input(z.strictObject({ name: z.string().trim().min(1).max(100), email: z.email().max(190), role }))
    .mutation(({ ctx, input }) => invitePerson(ctx.services, input, ctx.person.email)),

  inviteAgain: adminProcedure
    .input(z.strictObject({ id }))
    .mutation(({ ctx, input }) => inviteAgain(ctx.services, input.id, ctx.person.email)),

  /** Takes the password and all sessions away. Answers with a link, as `invite`. */
  resetPassword: adminProcedure
    .input(z.strictObject({ id }))
    .mutation(({ ctx, input }) => resetPassword(ctx.services, input.id, ctx.person.email)),

  /** Ends all sessions of somebody. */
  signOut: adminProcedure
    .input(z.strictObject({ id }))
    .mutation(({ ctx, input }) => signOutPerson(ctx.services, input.id, ctx.person.email)),

  changeRole: adminProcedure
    .input(z.strictObject({ id, role }))
    .mutation(({ ctx, input }) => changeRole(ctx.services, input.id, input.role, ctx.person.email)),

  /** Keeps somebody out, and ends their sessions, until they are enabled again. */
  disable: adminProcedure
    .input(z.strictObject({ id }))
    .mutation(({ ctx, input }) => disablePerson(ctx.services, input.id, ctx.person.email)),

  enable: adminProcedure
    .input(z.strictObject({ id }))
    .mutation(({ ctx, input }) => enablePerson(ctx.services, input.id, ctx.person.email)),

  /** Asks for a second factor, or no longer. */
  requireSecondFactor: adminProcedure
    .input(z.strictObject({ id, required: z.boolean() }))
    .mutation(({ ctx, input }) =>
      requireSecondFactor(ctx.services, input.id, input.required, ctx.person.email),
    ),

  /** For who has lost the device: ends their sessions, and their password alone lets them in. */
  resetSecondFactor: adminProcedure
    .input(z.strictObject({ id }))
    .mutation(({ ctx, input }) => resetSecondFactor(ctx.services, input.id, ctx.person.email)),

  remove: adminProcedure
    .input(z.strictObject({ id }))
    .mutation(({ ctx, input }) => removePerson(ctx.services, input.id, ctx.person.email)),
})
