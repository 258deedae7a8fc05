import { z } from 'zod'
import { env } from '../../core/env'
import { PASSWORD_LENGTH, setPassword, waysIn } from '../auth'
import { endSession, listSessions } from '../services/sessions'
import { FIRST_ADMIN_EMAIL, needsSignInLink } from '../sign-in-link'
import { providerName } from '../single-sign-on'
import { personProcedure, publicProcedure, router, viewerProcedure } from './trpc'

export const sessionRouter = router({
  /** Whether anybody can sign in by password yet; if not, the sign-in page tells how to get a link. */
  setup: publicProcedure.query(async ({ ctx }) => ({
    linkNeeded: await needsSignInLink(ctx.services),
    /** What single sign-on is called; null without it. */
    provider: providerName(),
  })),

  me: personProcedure.query(async ({ ctx }) => ({
    ...ctx.person,
    email: ctx.person.email === FIRST_ADMIN_EMAIL ? null : ctx.person.email,
    ...(await waysIn(ctx.services, ctx.person.id)),
    zone: env().TZ,
  })),

  /** One's own sessions, the last used first. Times are ms since 1970. */
  list: viewerProcedure.query(({ ctx }) => listSessions(ctx.services, ctx.person.id)),

  /** Ends one of one's own sessions. */
  end: viewerProcedure
    .input(z.strictObject({ id: z.string().min(1).max(36) }))
    .mutation(({ ctx, input }) => endSession(ctx.services, ctx.person, input.id)),

  setPassword: personProcedure
    .input(z.strictObject({ email: z.email().max(255), password: z.string().min(PASSWORD_LENGTH).max(128) }))
    .mutation(({ ctx, input }) => setPassword(ctx.services, ctx.auth, ctx.person, input)),
})
