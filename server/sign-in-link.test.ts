import { afterAll, beforeAll, expect, test } from 'vitest'
import { CONSOLE, consoleServices, requestOf } from '../tests/console-services'
import { refusal } from './api/request-check'
import { appRouter } from './api/root'
import { createCaller } from './api/trpc'
import { type Auth, createAuth, personOf } from './auth'
import type { Services } from './context'
import { change, select } from './db'
import { createSignInLink, needsSignInLink } from './sign-in-link'

let services: Services
let end: () => Promise<void>
let auth: Auth

beforeAll(async () => {
  ;({ services, end } = await consoleServices())
  auth = createAuth(services)
})
afterAll(() => end())

let addresses = 0
/** As the route does it, from an address of its own, so that the limit for one address is not what a test meets. */
async function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  const text = JSON.stringify(body)
  const request = new Request(`${CONSOLE}/api/auth/${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'content-length': String(text.length),
      origin: CONSOLE,
      'x-forwarded-for': `10.0.0.${++addresses}`,
      ...headers,
    },
    body: text,
  })
  return refusal(request) ?? auth.handler(request)
}
const tokenOf = (link: string) => new URL(link).searchParams.get('token')
const cookieOf = (response: Response) => response.headers.get('set-cookie')?.split(';')[0] ?? ''

test('a link lets in once, as the same first administrator each time, however many open it at once', async () => {
  const token = tokenOf(await createSignInLink(services))
  const answers = await Promise.all(Array.from({ length: 5 }, () => post('sign-in/link', { token })))
  expect(answers.map((answer) => answer.status).sort()).toEqual([200, 401, 401, 401, 401])

  const again = await Promise.all(
    (await Promise.all([createSignInLink(services), createSignInLink(services)])).map((link) =>
      post('sign-in/link', { token: tokenOf(link) }),
    ),
  )
  const people = await Promise.all(
    again.map((answer) => personOf(auth, new Headers({ cookie: cookieOf(answer) }))),
  )
  expect(people[0]).toMatchObject({ role: 'admin' })
  expect(people[1]).toEqual(people[0])
  expect(await select(services.database.pool, 'SELECT id FROM user')).toHaveLength(1)
})

test('the database never holds a token that opens anything', async () => {
  const token = tokenOf(await createSignInLink(services))
  const rows = await select(services.database.pool, 'SELECT * FROM verification')
  expect(JSON.stringify(rows)).not.toContain(token)
})

test('a link older than 24 hours, a made-up one, and one from a foreign page let nobody in', async () => {
  const old = tokenOf(await createSignInLink(services))
  await change(
    services.database.pool,
    'UPDATE verification SET expires_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND',
  )
  expect((await post('sign-in/link', { token: old })).status).toBe(401)
  expect((await post('sign-in/link', { token: 'a'.repeat(43) })).status).toBe(401)
  const token = tokenOf(await createSignInLink(services))
  const foreign = await post('sign-in/link', { token }, { origin: 'https://evil.example', cookie: 'a=b' })
  expect(foreign.status).toBe(403)
  expect((await post('sign-in/link', { token })).status).toBe(200)
})

test('the cookie is out of reach for scripts and foreign pages, and signing out ends the session at once', async () => {
  const answer = await post('sign-in/link', { token: tokenOf(await createSignInLink(services)) })
  expect(answer.headers.get('set-cookie')).toMatch(/HttpOnly.*SameSite=Lax/i)
  const cookie = cookieOf(answer)
  expect(await personOf(auth, new Headers({ cookie }))).not.toBeNull()
  await post('sign-out', {}, { cookie })
  expect(await personOf(auth, new Headers({ cookie }))).toBeNull()
})

test('nobody can sign up', async () => {
  const answer = await post('sign-up/email', {
    name: 'Eve',
    email: 'eve@example.com',
    password: 'long enough 1',
    role: 'admin',
  })
  expect(answer.status).toBeGreaterThanOrEqual(400)
  expect(await select(services.database.pool, "SELECT 1 FROM user WHERE email = 'eve@example.com'")).toEqual(
    [],
  )
})

test('a password is set once; then it signs in, links are no longer needed, and guessing it is slowed', async () => {
  const answer = await post('sign-in/link', { token: tokenOf(await createSignInLink(services)) })
  const person = await personOf(auth, new Headers({ cookie: cookieOf(answer) }))
  const caller = createCaller(appRouter)(requestOf(services, person))
  expect(await needsSignInLink(services)).toBe(true)
  await expect(caller.session.setPassword({ email: 'lin@example.com', password: 'short' })).rejects.toThrow()

  const both = await Promise.allSettled([
    caller.session.setPassword({ email: 'Lin@Example.com', password: 'correct horse 1' }),
    caller.session.setPassword({ email: 'lin@example.com', password: 'correct horse 2' }),
  ])
  expect(both.map((one) => one.status).sort()).toEqual(['fulfilled', 'rejected'])
  const password = both[0].status === 'fulfilled' ? 'correct horse 1' : 'correct horse 2'
  expect(await needsSignInLink(services)).toBe(false)
  const login = { email: 'lin@example.com', password }
  expect((await post('sign-in/email', login)).status).toBe(200)

  const unknown = await post('sign-in/email', { email: 'nobody@example.com', password: 'wrong wrong' })
  const guesses = []
  for (let n = 0; n < 11; n++)
    guesses.push(await post('sign-in/email', { ...login, password: 'wrong wrong' }))
  // Nothing tells an unknown account from a wrong password.
  expect(await guesses[0]!.json()).toEqual(await unknown.json())
  expect(guesses.map((guess) => guess.status)).toEqual([...Array(10).fill(401), 429])
  expect((await post('sign-in/email', login)).status).toBe(429)
})

test('one address is slowed too, whatever accounts it tries', async () => {
  const from = { 'x-forwarded-for': '203.0.113.9' }
  const answers = []
  for (let n = 0; n < 12; n++)
    answers.push(await post('sign-in/email', { email: `a${n}@example.com`, password: 'wrong wrong' }, from))
  expect(answers.at(-1)?.status).toBe(429)
})
