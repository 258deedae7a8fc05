import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'

/** What the provider says of somebody who signs in under this name. */
export type Claims = { email: string; email_verified: boolean; name: string }

export interface IdentityProvider {
  issuer: string
  client: { id: string; secret: string }
  close(): Promise<void>
}

/**
 * An OpenID Connect provider on loopback, with pages to sign in at and to agree. Whatever name is entered there is somebody's who
 * is in `people`. @param redirect where its one client may be led back to.
 */
export async function startIdentityProvider(
  redirect: string,
  people: Record<string, Claims>,
): Promise<IdentityProvider> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = { id: 'orbweaver', secret: 'of-this-test-run-only' }
  const provider = new Provider(issuer, {
    clients: [{ client_id: client.id, client_secret: client.secret, redirect_uris: [redirect] }],
    cookies: { keys: ['of-this-test-run-only'] },
    claims: { email: ['email', 'email_verified'], profile: ['name'] },
    pkce: { required: () => true },
    findAccount: (_, id) => people[id] && { accountId: id, claims: () => ({ sub: id, ...people[id]! }) },
  })
  server.on('request', provider.callback())
  return {
    issuer,
    client,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
