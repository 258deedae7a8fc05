import type { BetterAuthOptions } from 'better-auth'
import { genericOAuth } from 'better-auth/plugins'
import { env } from '../core/env'
import { UnsafeError } from '../core/errors'
import type { Services } from './context'
import { recordChange } from './services/audit-log'

type ValidateUserInfo = NonNullable<NonNullable<BetterAuthOptions['user']>['validateUserInfo']>

/** Names the provider in paths and in the database. */
const PROVIDER = 'oidc'

/** What the sign-in page calls the provider; null without one. */
export const providerName = () => (env().OIDC_ISSUER === undefined ? null : env().OIDC_NAME)

/**
 * Sign-in by OpenID Connect: code flow with PKCE, state and nonce; ID tokens are verified. Whoever was invited under the address
 * that the provider has verified is that person; others come in as OIDC_NEW_PEOPLE says, or not at all.
 * @throws UnsafeError when OIDC_ISSUER stands without its client.
 */
export function singleSignOn() {
  const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, OIDC_NEW_PEOPLE } = env()
  if (OIDC_ISSUER === undefined) return []
  if (OIDC_CLIENT_ID === undefined || OIDC_CLIENT_SECRET === undefined)
    throw new UnsafeError(
      'OIDC_ISSUER is set without OIDC_CLIENT_ID and OIDC_CLIENT_SECRET; set all three, or none.',
    )
  return [
    genericOAuth({
      config: [
        {
          providerId: PROVIDER,
          discoveryUrl: `${OIDC_ISSUER.replace(/\/+$/, '')}/.well-known/openid-configuration`,
          requireIdTokenVerification: true,
          clientId: OIDC_CLIENT_ID,
          clientSecret: OIDC_CLIENT_SECRET,
          authentication: 'basic',
          scopes: ['openid', 'email', 'profile'],
          disableSignUp: OIDC_NEW_PEOPLE === undefined,
          mapProfileToUser: ({ name, email }) => ({ name: String(name || email || '').slice(0, 100) }),
        },
      ],
    }),
  ]
}

/** Nobody comes in, or becomes somebody who is here, by an address that the provider has not verified to be theirs. */
export function refuseUnverified({ user, source }: Parameters<ValidateUserInfo>[0]) {
  if (source.method === 'oauth' && source.action !== 'sign-in' && user.emailVerified !== true)
    return { error: 'account_not_linked' }
}

/** Nothing is asked of the provider afterwards, so its tokens are not kept. */
export const withoutTokens = <T extends object>(account: T) => ({
  data: {
    ...account,
    ...{ accessToken: null, refreshToken: null, idToken: null },
    ...{ accessTokenExpiresAt: null, refreshTokenExpiresAt: null },
  },
})

/** Accounts are made by nobody but the provider's people: an invitation makes its own. */
export const asNewcomer = <T extends object>(user: T) => ({
  data: { ...user, role: env().OIDC_NEW_PEOPLE ?? 'viewer' },
})

export const recordNewcomer = (services: Services, { id, email }: { id: string; email: string }) =>
  recordChange(services.database.pool, email, 'person.sign-up', id, {
    email,
    role: env().OIDC_NEW_PEOPLE ?? 'viewer',
  })
