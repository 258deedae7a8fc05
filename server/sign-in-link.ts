import { createHash, randomBytes } from 'node:crypto'
import type { BetterAuthPlugin } from 'better-auth'
import { APIError, createAuthEndpoint } from 'better-auth/api'
import { setSessionCookie } from 'better-auth/cookies'
import { and, asc, eq, gt, isNotNull, isNull, like, lt } from 'drizzle-orm'
import { z } from 'zod'
import { account, user, verification } from '../drizzle/schema/auth'
import { consoleUrl } from './console-url'
import type { Services } from './context'
import { recordChange } from './services/audit-log'

/** Hours a link can be opened in. */
const HOURS = 24

/** Address of the first administrator until they give their own; `.invalid` never gets mail (RFC 2606). */
export const FIRST_ADMIN_EMAIL = 'admin@orbweaver.invalid'

/** What is stored of a link: only its SHA-256, so that a copy of the database opens nothing. */
const identifierOf = (token: string) => `sign-in-link:${createHash('sha256').update(token).digest('hex')}`

/** Whether nobody can sign in by password yet, so that a link is the only way in. */
export async function needsSignInLink(services: Services): Promise<boolean> {
  const rows = await services.database.orm
    .select({ id: account.id })
    .from(account)
    .where(isNotNull(account.password))
    .limit(1)
  return rows.length === 0
}

/** Stands in a link for whoever is the oldest administrator when it is opened. */
const FIRST_ADMIN = 'first-admin'

/**
 * Makes a link that signs its opener in, once, within 24 hours: as the first administrator, or as `person` (an id). Whoever can
 * run the former has the database's password, so the link gives nothing away; it is also the way back in when a password is lost.
 */
export async function createSignInLink(services: Services, person = FIRST_ADMIN): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  const now = new Date()
  const { orm } = services.database
  await orm
    .delete(verification)
    .where(and(like(verification.identifier, 'sign-in-link:%'), lt(verification.expiresAt, now)))
  await orm.insert(verification).values({
    id: crypto.randomUUID(),
    identifier: identifierOf(token),
    value: person,
    expiresAt: new Date(now.getTime() + HOURS * 3_600_000),
    createdAt: now,
    updatedAt: now,
  })
  return `${consoleUrl()}/welcome?token=${token}`
}

/**
 * The endpoint behind the button on /welcome: `POST /api/auth/sign-in/link {token}`. A POST, so that programs that look
 * at links in messages don't use them up.
 */
export function signInLink(services: Services) {
  return {
    id: 'sign-in-link',
    endpoints: {
      openConsole: createAuthEndpoint(
        '/sign-in/link',
        { method: 'POST', requireHeaders: true, body: z.strictObject({ token: z.string().max(100) }) },
        async (ctx) => {
          const holder = await useUp(services, ctx.body.token)
          if (!holder)
            throw new APIError('UNAUTHORIZED', {
              message: 'This link was used already or is older than 24 hours; make a new one on the server.',
            })
          const id = holder === FIRST_ADMIN ? await firstAdmin(services) : holder
          const found = await ctx.context.internalAdapter.findUserById(id)
          if (!found) throw new APIError('UNAUTHORIZED', { message: 'The account of this link was removed.' })
          const session = await ctx.context.internalAdapter.createSession(id)
          await setSessionCookie(ctx, { session, user: found })
          await recordChange(services.database.pool, found.email, 'person.sign-in-link', id)
          return ctx.json({ ok: true })
        },
      ),
    },
  } satisfies BetterAuthPlugin
}

/**
 * Whom the link lets in; null when it does not. Deleting is what uses it up: of two requests at once, one row is deleted by
 * one of them.
 */
async function useUp(services: Services, token: string): Promise<string | null> {
  const { orm } = services.database
  const valid = and(eq(verification.identifier, identifierOf(token)), gt(verification.expiresAt, new Date()))
  const [link] = await orm.select({ holder: verification.value }).from(verification).where(valid)
  const [result] = await orm.delete(verification).where(valid)
  return result.affectedRows === 1 && link ? link.holder : null
}

/** Id of the oldest administrator who is not disabled, made when there is none. */
async function firstAdmin(services: Services): Promise<string> {
  const { orm } = services.database
  const oldest = () =>
    orm
      .select({ id: user.id })
      .from(user)
      .where(and(eq(user.role, 'admin'), isNull(user.disabledAt)))
      .orderBy(asc(user.createdAt))
      .limit(1)
  const [existing] = await oldest()
  if (existing) return existing.id
  const now = new Date()
  // The address is unique: of two links opened at once one makes the account, and both find it.
  await orm.insert(user).ignore().values({
    id: crypto.randomUUID(),
    name: 'Administrator',
    email: FIRST_ADMIN_EMAIL,
    role: 'admin',
    createdAt: now,
    updatedAt: now,
  })
  const [made] = await oldest()
  if (!made) throw new Error(`The account ${FIRST_ADMIN_EMAIL} exists but is no administrator.`)
  return made.id
}
