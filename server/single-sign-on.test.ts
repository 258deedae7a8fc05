import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { setEnv } from '../core/env'
import { CONSOLE, consoleServices } from '../tests/console-services'
import { type Claims, type IdentityProvider, startIdentityProvider } from '../tests/identity-provider'
import { type Auth, createAuth, personOf, setPassword } from './auth'
import type { Services } from './context'
import { change, select } from './db'
import { listChanges } from './services/changes'
import { disablePerson, invitePerson, listPeople } from './services/people'

const PEOPLE: Record<string, Claims> = {
  li: { email: 'Li.Na@example.com', email_verified: true, name: 'Li Na' },
  bo: { email: 'bo.yi@example.com', email_verified: false, name: 'Bo Yi' },
}

let services: Services
let end: () => Promise<void>
let provider: IdentityProvider
let auth: Auth
let addresses = 0

beforeAll(async () => {
  ;({ services, end } = await consoleServices())
  provider = await startIdentityProvider(`${CONSOLE}/api/auth/callback/oidc`, PEOPLE)
  setEnv({
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: provider.client.id,
    OIDC_CLIENT_SECRET: provider.client.secret,
  })
})
afterAll(async () => {
  setEnv({ OIDC_ISSUER: '', OIDC_NEW_PEOPLE: '' })
  await provider?.close()
  await end?.()
})
beforeEach(async () => {
  for (const table of ['user', 'session', 'account', 'verification'])
    await change(services.database.pool, `DELETE FROM ${table}`)
  setEnv({ OIDC_NEW_PEOPLE: '' })
  auth = createAuth(services)
})
const invite = (email: string) =>
  invitePerson(services, { name: 'Li', email, role: 'operator' }, 'boss@example.com')

/** A browser that follows redirects, keeps the cookies of each host, and fills in the pages of the provider. */
async function signInAs(name: string) {
  const jars = new Map<string, Map<string, string>>()
  const address = `10.8.0.${++addresses}`
  async function ask(
    url: string,
    init: { method?: string; type?: string; body?: string } = {},
  ): Promise<Response> {
    const { origin } = new URL(url)
    const jar = jars.get(origin) ?? new Map<string, string>()
    jars.set(origin, jar)
    const request = new Request(url, {
      method: init.method ?? 'GET',
      redirect: 'manual',
      headers: {
        origin,
        'x-forwarded-for': address,
        cookie: [...jar].map(([key, value]) => `${key}=${value}`).join('; '),
        ...(init.type && { 'content-type': init.type }),
      },
      ...(init.body !== undefined && { body: init.body }),
    })
    const answer = origin === CONSOLE ? await auth.handler(request) : await fetch(request)
    for (const line of answer.headers.getSetCookie()) {
      const [pair] = line.split(';')
      const at = pair!.indexOf('=')
      jar.set(pair!.slice(0, at), pair!.slice(at + 1))
    }
    return answer
  }
  const begun = await ask(`${CONSOLE}/api/auth/sign-in/social`, {
    method: 'POST',
    type: 'application/json',
    body: JSON.stringify({ provider: 'oidc', callbackURL: '/', errorCallbackURL: '/sign-in' }),
  })
  let { url } = (await begun.json()) as { url: string }
  for (let hops = 0; hops < 20; hops++) {
    if (url.startsWith(CONSOLE) && !url.includes('/api/auth/')) break
    const answer = await ask(url)
    const to = answer.headers.get('location')
    if (to) {
      url = new URL(to, url).href
      continue
    }
    // A page of the provider: to sign in at, or to agree to what the console asks for.
    const page = await answer.text()
    const action = page.match(/action="([^"]+)"/)?.[1]
    const prompt = page.match(/name="prompt" value="([^"]+)"/)?.[1]
    if (!action || !prompt) throw new Error(`${url} answered ${answer.status}: ${page.slice(0, 500)}`)
    const sent = await ask(new URL(action, url).href, {
      method: 'POST',
      type: 'application/x-www-form-urlencoded',
      body: String(
        new URLSearchParams({ prompt, ...(prompt === 'login' && { login: name, password: 'x' }) }),
      ),
    })
    url = new URL(sent.headers.get('location')!, url).href
  }
  const cookie = [...(jars.get(CONSOLE) ?? [])].map(([key, value]) => `${key}=${value}`).join('; ')
  return { at: url.slice(CONSOLE.length), person: await personOf(auth, new Headers({ cookie })) }
}

test('who was invited signs in through the provider, with the role of the invitation, again and again', async () => {
  const { id } = await invite('li.na@example.com')
  for (let n = 0; n < 2; n++) {
    const { at, person } = await signInAs('li')
    expect(at).toBe('/')
    expect(person).toMatchObject({ id, email: 'li.na@example.com', role: 'operator' })
  }
  expect(await listPeople(services)).toHaveLength(1)
  // Nothing of the provider's that opens anything is kept.
  const accounts = await select<Record<string, unknown>>(
    services.database.pool,
    'SELECT access_token, refresh_token, id_token, password FROM account',
  )
  expect(accounts).toEqual([{ access_token: null, refresh_token: null, id_token: null, password: null }])
})

test('who was not invited does not come in, and is told so', async () => {
  const { at, person } = await signInAs('li')
  expect(person).toBeNull()
  expect(at).toMatch(/^\/sign-in\?error=signup_disabled/)
  expect(await listPeople(services)).toEqual([])
})

test('with OIDC_NEW_PEOPLE others come in with that role, on record, if the provider has verified their address', async () => {
  setEnv({ OIDC_NEW_PEOPLE: 'viewer' })
  auth = createAuth(services)
  const { person } = await signInAs('li')
  expect(person).toMatchObject({ email: 'li.na@example.com', name: 'Li Na', role: 'viewer' })
  expect(await listChanges(services, { action: 'person.sign-up', limit: 9 })).toMatchObject([
    { subject: person!.id, detail: { role: 'viewer' } },
  ])
  expect((await signInAs('bo')).person).toBeNull()
  expect(await listPeople(services)).toHaveLength(1)
})

test('nobody becomes somebody else by an address that is not verified, by the provider or here', async () => {
  await invite('bo.yi@example.com')
  expect((await signInAs('bo')).person).toBeNull()
  // Who gave another address than that of the invitation may have given anybody's.
  const { id } = await invite('other@example.com')
  const person = { id, name: 'x', email: 'other@example.com', role: 'operator' as const }
  await setPassword(services, auth, person, { email: 'li.na@example.com', password: 'long enough words' })
  const { at, person: entered } = await signInAs('li')
  expect(entered).toBeNull()
  expect(at).toMatch(/^\/sign-in\?error=account_not_linked/)
})

test('who is disabled does not come in through the provider either', async () => {
  const { id } = await invite('li.na@example.com')
  await signInAs('li')
  await disablePerson(services, id, 'boss@example.com')
  const { at, person } = await signInAs('li')
  expect(person).toBeNull()
  expect(at).toBe('/sign-in?error=account_disabled')
})
