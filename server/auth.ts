import { betterAuth, type GenericEndpointContext } from 'better-auth'
import { drizzleAdapter } from 'better-auth/adapters/drizzle'
import { APIError, createAuthMiddleware } from 'better-auth/api'
import { eq } from 'drizzle-orm'
import { env } from '../core/env'
import { UnsafeError, UserError } from '../core/errors'
import { inTransaction } from '../drizzle/database'
import { account, session, twoFactor, user, verification } from '../drizzle/schema/auth'
import { attempt, forgive } from './attempts'
import { consoleUrl, ownOrigins } from './console-url'
import type { Services } from './context'
import { change, select } from './db'
import { recordSecondFactor, recordTurn, SECOND_FACTOR_RATES, secondFactor, useUpCode } from './second-factor'
import { recordChange } from './services/audit-log'
import { signInLink } from './sign-in-link'
import { asNewcomer, recordNewcomer, refuseUnverified, singleSignOn, withoutTokens } from './single-sign-on'

/** Each may do what those before it may. */
export const ROLES = ['viewer', 'operator', 'admin'] as const
export type Role = (typeof ROLES)[number]

/** Who is asking, as every procedure sees it. */
export interface Person {
  id: string
  name: string
  email: string
  role: Role
  /** They have no second factor though an administrator asks for one: nothing is open to them but setting it up. */
  owesSecondFactor?: true
}

/** Shortest password that is accepted, in characters. */
export const PASSWORD_LENGTH = 10

/** Guesses at one account's password within the window below; the address limit is separate. */
const GUESSES = { max: 10, windowMs: 15 * 60_000 }

export type Auth = ReturnType<typeof createAuth>

/**
 * Accounts and sessions. There is no sign-up and no default password: the first administrator enters through a one-time
 * link (`sign-in-link.ts`). Sessions are read from the database on each request, so that signing out, or deleting a
 * user, takes effect at once.
 * @throws UnsafeError when AUTH_SECRET is missing.
 */
export function createAuth(services: Services) {
  const secret = env().AUTH_SECRET
  if (!secret)
    throw new UnsafeError(
      'AUTH_SECRET is not set, so sessions could be forged; make one with: openssl rand -hex 32',
    )
  const base = consoleUrl()
  return betterAuth({
    appName: 'Orbweaver',
    baseURL: base,
    basePath: '/api/auth',
    secret,
    database: drizzleAdapter(services.database.orm, {
      provider: 'mysql',
      schema: { user, session, account, verification, twoFactor },
    }),
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: PASSWORD_LENGTH,
      maxPasswordLength: 128,
    },
    user: {
      // `input: false`: a role never comes from a request.
      additionalFields: {
        role: { type: 'string', required: true, input: false, defaultValue: 'viewer' },
        disabledAt: { type: 'date', required: false, input: false },
        secondFactorRequired: { type: 'boolean', required: false, input: false },
      },
      validateUserInfo: refuseUnverified,
    },
    account: { updateAccountOnSignIn: false },
    onAPIError: { errorURL: `${base}/sign-in` },
    databaseHooks: {
      user: {
        create: {
          before: async (data) => asNewcomer(data),
          after: (data) => recordNewcomer(services, data),
        },
        update: { before: (data, ctx) => recordTurn(services, data, ctx) },
      },
      account: { create: { before: async (data) => withoutTokens(data) } },
      session: {
        create: {
          before: async ({ userId }, ctx) => {
            await refuseDisabled(services, userId, ctx)
            await useUpCode(services, userId, ctx)
          },
        },
      },
    },
    session: { expiresIn: 7 * 86_400, updateAge: 86_400, cookieCache: { enabled: false } },
    trustedOrigins: (request) => ownOrigins(request?.headers),
    rateLimit: {
      enabled: true,
      window: 60,
      max: 120,
      customRules: {
        '/sign-in/*': { window: 60, max: 10 },
        // Somebody who sits down at an open console must not find out the password by trying.
        '/change-password': { window: 900, max: 10 },
        ...SECOND_FACTOR_RATES,
      },
      customStorage: {
        consume: (key, rule) => attempt(services.redis, `address:${key}`, rule.max, rule.window * 1000),
        // The counting is atomic in `consume`; these are for storages without one.
        get: async () => null,
        set: async () => {},
      },
    },
    hooks: {
      before: createAuthMiddleware(async (ctx) => {
        const email = ctx.path === '/sign-in/email' && guessed(ctx.body)
        if (!email) return
        const verdict = await attempt(services.redis, `account:${email}`, GUESSES.max, GUESSES.windowMs)
        if (!verdict.allowed)
          throw new APIError('TOO_MANY_REQUESTS', {
            message: `Too many attempts for this account; try again in ${Math.ceil((verdict.retryAfter ?? 60) / 60)} min.`,
          })
      }),
      after: createAuthMiddleware(async (ctx) => {
        const email = ctx.path === '/sign-in/email' && guessed(ctx.body)
        const session = ctx.context.newSession
        if (email && session) await forgive(services.redis, `account:${email}`)
        if (ctx.path === '/change-password' && session)
          await recordChange(services.database.pool, session.user.email, 'person.password', session.user.id)
        await recordSecondFactor(services, ctx)
      }),
    },
    advanced: {
      useSecureCookies: base.startsWith('https:'),
      defaultCookieAttributes: { httpOnly: true, sameSite: 'lax' },
    },
    plugins: [signInLink(services), secondFactor(), ...singleSignOn()],
    logger: {
      log: (level, message) =>
        services.log[level === 'warn' || level === 'error' ? level : 'debug']({ part: 'auth' }, message),
    },
    telemetry: { enabled: false },
  })
}

/** The person a request's cookie belongs to, or null. */
export async function personOf(auth: Auth, headers: Headers): Promise<Person | null> {
  const found = await auth.api.getSession({ headers })
  // A session that was begun while its person was being disabled may still be there.
  if (!found || found.user.disabledAt) return null
  const { id, name, email, role, secondFactorRequired, twoFactorEnabled } = found.user
  return {
    ...{ id, name, email, role: role as Role },
    ...(secondFactorRequired && !twoFactorEnabled && { owesSecondFactor: true }),
  }
}

/** How the person can sign in later (the first administrator enters without a password). */
export async function waysIn(
  services: Services,
  userId: string,
): Promise<{ hasPassword: boolean; hasSecondFactor: boolean }> {
  const rows = await services.database.orm
    .select({ password: account.password, twoFactorEnabled: user.twoFactorEnabled })
    .from(user)
    .leftJoin(account, eq(account.userId, user.id))
    .where(eq(user.id, userId))
  return {
    hasPassword: rows.some((row) => row.password !== null),
    hasSecondFactor: rows.some((row) => row.twoFactorEnabled),
  }
}

/**
 * Gives a person who has no password yet an email address and a password to sign in with.
 * @throws UserError when they have one already, or when the address belongs to somebody else.
 */
export async function setPassword(
  services: Services,
  auth: Auth,
  person: Person,
  input: { email: string; password: string },
): Promise<void> {
  const email = input.email.toLowerCase()
  const { password } = await auth.$context
  const hash = await password.hash(input.password)
  await inTransaction(services.database.pool, async (connection) => {
    // Locked, so that two requests at once don't make two passwords.
    await select(connection, 'SELECT id FROM user WHERE id = ? FOR UPDATE', [person.id])
    const known = 'SELECT 1 FROM account WHERE user_id = ? AND password IS NOT NULL'
    if ((await select(connection, known, [person.id])).length > 0)
      throw new UserError('This account has a password already; change it instead of setting a new one.', {
        code: 'password_there',
      })
    const others = await select(connection, 'SELECT 1 FROM user WHERE email = ? AND id <> ?', [
      email,
      person.id,
    ])
    if (others.length > 0)
      throw new UserError(`The address ${email} belongs to another account; take a different one.`, {
        code: 'address_taken',
        values: { email },
      })
    // Of another address than that of the invitation nobody knows whose it is, so single sign-on doesn't go by it.
    await change(
      connection,
      'UPDATE user SET email_verified = email_verified AND email = ?, email = ?, updated_at = UTC_TIMESTAMP(3) WHERE id = ?',
      [email, email, person.id],
    )
    await change(
      connection,
      "INSERT INTO account (id, account_id, provider_id, user_id, password, created_at, updated_at) VALUES (?, ?, 'credential', ?, ?, UTC_TIMESTAMP(3), UTC_TIMESTAMP(3))",
      [crypto.randomUUID(), person.id, person.id, hash],
    )
    await recordChange(connection, email, 'person.password', person.id)
  })
}

/** Whatever way somebody comes in, it ends here. @throws APIError 423, which only one who has shown who they are gets to see. */
async function refuseDisabled(
  services: Services,
  userId: string,
  ctx: GenericEndpointContext | null,
): Promise<void> {
  const rows = await services.database.orm
    .select({ disabledAt: user.disabledAt })
    .from(user)
    .where(eq(user.id, userId))
  if (!rows[0]?.disabledAt) return
  // Whoever the provider leads back is at an address, and not in a page that could tell.
  if (ctx?.path.startsWith('/callback/')) throw ctx.redirect(`${consoleUrl()}/sign-in?error=account_disabled`)
  throw new APIError('LOCKED', { message: 'This account is disabled; ask an administrator to enable it.' })
}

function guessed(body: unknown): string | null {
  const email = (body as { email?: unknown } | undefined)?.email
  return typeof email === 'string' ? email.toLowerCase().slice(0, 255) : null
}
