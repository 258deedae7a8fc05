import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { CONSOLE, consoleServices } from '../../tests/console-services'
import { refusal } from '../api/request-check'
import { type Auth, createAuth, personOf, setPassword } from '../auth'
import type { Services } from '../context'
import { change, select } from '../db'
import { createSignInLink } from '../sign-in-link'
import { listChanges } from './changes'
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
} from './people'
import { endSession, listSessions } from './sessions'
import { subjectNames } from './subject-names'

let services: Services
let end: () => Promise<void>
let auth: Auth
let admin: string

beforeAll(async () => {
  ;({ services, end } = await consoleServices())
  auth = createAuth(services)
})
afterAll(() => end())
beforeEach(async () => {
  for (const table of ['user', 'session', 'account', 'verification'])
    await change(services.database.pool, `DELETE FROM ${table}`)
  await open(await createSignInLink(services))
  admin = (await listPeople(services))[0]!.id
})

let addresses = 0
/** Opens a link as the page does. @returns the cookie of the session; null when it lets nobody in. */
async function open(link: string): Promise<Headers | null> {
  const body = JSON.stringify({ token: new URL(link).searchParams.get('token') })
  const request = new Request(`${CONSOLE}/api/auth/sign-in/link`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'content-length': String(body.length),
      origin: CONSOLE,
      'x-forwarded-for': `10.3.0.${++addresses}`,
    },
    body,
  })
  const answer = refusal(request) ?? (await auth.handler(request))
  const cookie = answer.headers.get('set-cookie')?.split(';')[0]
  return answer.status === 200 && cookie ? new Headers({ cookie }) : null
}
const invite = (role: 'viewer' | 'operator' | 'admin', name = 'Li Na') =>
  invitePerson(services, { name, email: `${name.replace(' ', '.')}@Example.com`, role }, 'boss@example.com')

test('an invitation lets its person in once, with the role it says', async () => {
  const { id, link } = await invite('operator')
  const session = await open(link)
  expect(await personOf(auth, session!)).toEqual({
    id,
    name: 'Li Na',
    email: 'li.na@example.com',
    role: 'operator',
  })
  expect(await open(link)).toBeNull()
  await expect(invite('viewer')).rejects.toThrow(/li\.na@example\.com belongs to another account/)
})

test('another link is for those without a password only, so that nobody acts under the name of another', async () => {
  const { id } = await invite('viewer')
  const { link } = await inviteAgain(services, id, 'boss@example.com')
  const person = await personOf(auth, (await open(link))!)
  await setPassword(services, auth, person!, { email: person!.email, password: 'long enough words' })
  await expect(inviteAgain(services, id, 'boss@example.com')).rejects.toThrow(/has a password already/)
})

test('another role holds at once, and takes a new session', async () => {
  const { id, link } = await invite('operator')
  const session = (await open(link))!
  await changeRole(services, id, 'viewer', 'boss@example.com')
  expect(await personOf(auth, session)).toBeNull()
  expect((await listPeople(services)).find((one) => one.id === id)).toMatchObject({ role: 'viewer' })
})

test('who is removed is out at once, with every link they still have', async () => {
  const { id, link } = await invite('operator')
  const session = (await open(link))!
  const again = await inviteAgain(services, id, 'boss@example.com')
  await removePerson(services, id, 'boss@example.com')
  expect(await personOf(auth, session)).toBeNull()
  expect(await open(again.link)).toBeNull()
  expect(await select(services.database.pool, 'SELECT 1 FROM session WHERE user_id = ?', [id])).toEqual([])
  await expect(removePerson(services, id, 'boss@example.com')).rejects.toThrow(/no account/)
})

async function signIn(email: string, password: string): Promise<Response> {
  const body = JSON.stringify({ email, password })
  return auth.handler(
    new Request(`${CONSOLE}/api/auth/sign-in/email`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        origin: CONSOLE,
        'x-forwarded-for': `10.4.0.${++addresses}`,
      },
      body,
    }),
  )
}

test('who is disabled is out at once and can’t come back by password or link, until they are enabled', async () => {
  const { id, link } = await invite('operator')
  const session = (await open(link))!
  const person = (await personOf(auth, session))!
  await setPassword(services, auth, person, { email: person.email, password: 'long enough words' })
  const another = await createSignInLink(services, id)
  await disablePerson(services, id, 'boss@example.com')
  expect(await personOf(auth, session)).toBeNull()
  const refused = await signIn(person.email, 'long enough words')
  expect(refused.status).toBe(423)
  expect(refused.headers.get('set-cookie') ?? '').not.toContain('session_token=')
  // Only who knows the password learns that the account is disabled.
  expect((await signIn(person.email, 'some other words')).status).toBe(401)
  expect(await open(another)).toBeNull()
  expect(await select(services.database.pool, 'SELECT 1 FROM session WHERE user_id = ?', [id])).toEqual([])
  await enablePerson(services, id, 'boss@example.com')
  expect((await signIn(person.email, 'long enough words')).status).toBe(200)
  const told = (await listChanges(services, { subject: id, limit: 9 })).filter(({ action }) =>
    /able$/.test(action),
  )
  expect(told.map(({ action }) => action)).toEqual(['person.enable', 'person.disable'])
})

test('a session that was begun while its person was disabled opens nothing', async () => {
  const { id, link } = await invite('operator')
  const session = (await open(link))!
  await change(services.database.pool, 'UPDATE user SET disabled_at = UTC_TIMESTAMP(3) WHERE id = ?', [id])
  expect(await personOf(auth, session)).toBeNull()
})

test('the last administrator who can sign in is neither disabled nor anything else, whoever is disabled beside them', async () => {
  await expect(disablePerson(services, admin, 'x')).rejects.toThrow(/last administrator/)
  const { id } = await invite('admin')
  await disablePerson(services, id, 'x')
  for (const end of [disablePerson, removePerson])
    await expect(end(services, admin, 'x')).rejects.toThrow(/last administrator/)
  await expect(changeRole(services, admin, 'viewer', 'x')).rejects.toThrow(/last administrator/)
  // The way back in on the server leads to one who may.
  expect((await personOf(auth, (await open(await createSignInLink(services)))!))?.id).toBe(admin)
  await removePerson(services, id, 'x')
})

test('the audit log names people, also those who were removed, and finds them by their names', async () => {
  const { id } = await invite('viewer')
  await changeRole(services, id, 'operator', 'x')
  const there = await listChanges(services, { subject: id, limit: 9 })
  expect(await subjectNames(services, there)).toEqual(['li.na@example.com', 'li.na@example.com'])
  expect(await listChanges(services, { subject: 'li.na@example.com', limit: 9 })).toEqual(there)
  await removePerson(services, id, 'x')
  const [removed] = await listChanges(services, { subject: id, limit: 1 })
  expect(await subjectNames(services, [removed!])).toEqual(['li.na@example.com'])
})

test('one administrator is always left, also when two go at the same time', async () => {
  await expect(removePerson(services, admin, 'x')).rejects.toThrow(/last administrator/)
  await expect(changeRole(services, admin, 'operator', 'x')).rejects.toThrow(/last administrator/)
  await changeRole(services, admin, 'admin', 'x')
  for (let round = 0; round < 5; round++) {
    const { id } = await invite('admin', `Second ${round}`)
    const admins = (await listPeople(services)).filter((one) => one.role === 'admin').map((one) => one.id)
    expect(admins).toContain(id)
    const ends = await Promise.allSettled([
      removePerson(services, admins[0]!, 'x'),
      changeRole(services, admins[1]!, 'viewer', 'x'),
    ])
    expect(ends.map((one) => one.status).sort()).toEqual(['fulfilled', 'rejected'])
    expect((await listPeople(services)).filter((one) => one.role === 'admin')).toHaveLength(1)
  }
})

test('a password that is reset opens nothing any more, every session ends, and a link lets its owner choose another', async () => {
  const { id, link } = await invite('viewer')
  const session = (await open(link))!
  const person = (await personOf(auth, session))!
  await setPassword(services, auth, person, { email: person.email, password: 'a long old one' })
  const reset = await resetPassword(services, id, 'boss@example.com')
  expect(await personOf(auth, session)).toBeNull()
  expect((await listPeople(services)).find((one) => one.id === id)!.hasPassword).toBe(false)
  const again = (await open(reset.link))!
  expect((await personOf(auth, again))?.email).toBe(person.email)
  expect(await listChanges(services, { action: 'person.reset', limit: 9 })).toMatchObject([
    { actor: 'boss@example.com', subject: id },
  ])
})

test('signing somebody out ends all their sessions and nobody else’s', async () => {
  const { id, link } = await invite('operator')
  const theirs = (await open(link))!
  const other = (await open((await invite('viewer', 'Bo Yi')).link))!
  expect(await signOutPerson(services, id, 'boss@example.com')).toEqual({ ended: 1 })
  expect(await personOf(auth, theirs)).toBeNull()
  expect(await personOf(auth, other)).not.toBeNull()
})

test('people see and end their own sessions, and no one else’s', async () => {
  const { id, link } = await invite('operator')
  const session = (await open(link))!
  const [mine] = await listSessions(services, id)
  const [admins] = await listSessions(services, admin)
  const person = (await personOf(auth, session))!
  await endSession(services, person, admins!.id)
  expect(await listSessions(services, admin)).toHaveLength(1)
  await endSession(services, person, mine!.id)
  expect(await personOf(auth, session)).toBeNull()
})
