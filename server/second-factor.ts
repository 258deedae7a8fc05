import type { GenericEndpointContext } from 'better-auth'
import { APIError } from 'better-auth/api'
import { twoFactor } from 'better-auth/plugins'
import { attempt, forgive } from './attempts'
import type { Services } from './context'
import { recordChange } from './services/audit-log'

/**
 * A code of an app after the password (RFC 6238), or one of ten backup codes. Wrong codes are counted: five for one sign-in, ten
 * in a row for an account, which then takes none for 15 minutes. A stranger can't bring that about: the password comes first.
 */
export const secondFactor = () =>
  twoFactor({
    issuer: 'Orbweaver',
    // No browser is let off: what was trusted would outlive a reset.
    trustDeviceMaxAge: 0,
    accountLockout: { enabled: true, maxFailedAttempts: 10, durationSeconds: 15 * 60 },
  })

/** By network address, beside the counts of `secondFactor`. */
export const SECOND_FACTOR_RATES = {
  '/two-factor/verify-*': { window: 60, max: 10 },
  // These take the password of somebody who is signed in, which must not be found out by trying.
  '/two-factor/*': { window: 900, max: 10 },
}

/** A code is good for a minute and a half. */
const USED_MS = 120_000

/** A code opens one session (RFC 6238 §5.2): whoever looked over a shoulder can't enter it again. @throws APIError 401. */
export async function useUpCode(
  services: Services,
  userId: string,
  ctx: GenericEndpointContext | null,
): Promise<void> {
  if (ctx?.path !== '/two-factor/verify-totp') return
  const { code } = ctx.body as { code: string }
  const { allowed } = await attempt(services.redis, `code:${userId}:${code}`, 1, USED_MS)
  if (!allowed)
    throw new APIError('UNAUTHORIZED', { message: 'This code was used already; wait for the next one.' })
}

interface Done {
  path?: string
  context: {
    newSession: { user: { id: string; email: string } } | null
    session: { user: { id: string; email: string } } | null
    returned?: unknown
  }
}

/** Writes down what happened to a second factor, after the endpoints that did it. */
export async function recordSecondFactor(
  services: Services,
  { path, context: { newSession, session, returned } }: Done,
): Promise<void> {
  if (returned instanceof Error || !path) return
  const { pool } = services.database
  if (path.startsWith('/two-factor/verify-') && newSession) {
    await forgive(services.redis, `account:${newSession.user.email}`)
    if (path === '/two-factor/verify-backup-code')
      await recordChange(pool, newSession.user.email, 'person.backup-code', newSession.user.id)
  }
  if (path === '/two-factor/generate-backup-codes' && session)
    await recordChange(pool, session.user.email, 'person.backup-codes', session.user.id)
}

/** Writes down that somebody set their second factor up or turned it off. @param data what is about to be changed of them. */
export async function recordTurn(
  services: Services,
  data: Record<string, unknown>,
  ctx: GenericEndpointContext | null,
): Promise<void> {
  const person = ctx?.context.session?.user
  if (typeof data.twoFactorEnabled !== 'boolean' || !person) return
  await recordChange(services.database.pool, person.email, 'person.second-factor', person.id, {
    on: data.twoFactorEnabled,
  })
}
