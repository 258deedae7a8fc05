import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { CONSOLE, consoleServices, requestOf } from '../tests/console-services'
import { totp } from '../tests/totp'
import { appRouter } from './api/root'
import { createCaller } from './api/trpc'
import { type Auth, createAuth, personOf, setPassword } from './auth'
import type { Services } from './context'
import { change, select } from './db'
import { listChanges } from './services/changes'
import { invitePerson } from './services/people'
import { requireSecondFactor, resetSecondFactor } from './services/second-factor'

const PASSWORD = 'long enough words'
const EMAIL = 'li.na@example.com'

let services: Services
let end: () => Promise<void>
let auth: Auth
let id: string
let addresses = 0

beforeAll(async () => {
  ;({ services, end } = await consoleServices())
  auth = createAuth(services)
})
afterAll(() => end())
beforeEach(async () => {
  for (const table of ['user', 'session', 'account', 'verification', 'two_factor'])
    await change(services.database.pool, `DELETE FROM ${table}`)
  ;({ id } = await invitePerson(
    services,
    { name: 'Li Na', email: EMAIL, role: 'operator' },
    'boss@example.com',
  ))
  const person = { id, name: 'Li Na', email: EMAIL, role: 'operator' as const }
  await setPassword(services, auth, person, { email: EMAIL, password: PASSWORD })
})

/** A browser: what it was given as cookies it sends again. Each has an address of its own. */
function browser() {
  const cookies = new Map<string, string>()
  const address = `10.7.${(addresses >> 8) & 255}.${addresses++ & 255}`
  const headers = () =>
    new Headers({
      origin: CONSOLE,
      'content-type': 'application/json',
      'x-forwarded-for': address,
      cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
    })
  return {
    cookies,
    async post(path: string, body: object) {
      const answer = await auth.handler(
        new Request(`${CONSOLE}/api/auth/${path}`, {
          method: 'POST',
          headers: headers(),
          body: JSON.stringify(body),
        }),
      )
      for (const line of answer.headers.getSetCookie()) {
        const [pair] = line.split(';')
        const at = pair!.indexOf('=')
        if (pair!.length === at + 1) cookies.delete(pair!.slice(0, at))
        else cookies.set(pair!.slice(0, at), pair!.slice(at + 1))
      }
      // biome-ignore lint/suspicious/noExplicitAny: whatever it answers is compared as a whole.
      return { status: answer.status, told: (await answer.json()) as any }
    },
    person: () => personOf(auth, headers()),
  }
}
type Browser = ReturnType<typeof browser>
const signIn = (into: Browser) => into.post('sign-in/email', { email: EMAIL, password: PASSWORD })

/** Sets up a second factor. @returns its secret and backup codes. The code of this period is used up by that. */
async function setUp(): Promise<{ secret: string; backupCodes: string[]; session: Browser }> {
  const session = browser()
  await signIn(session)
  const { told } = await session.post('two-factor/enable', { password: PASSWORD })
  const secret = new URL(told.totpURI).searchParams.get('secret')!
  expect((await session.post('two-factor/verify-totp', { code: totp(secret) })).status).toBe(200)
  return { secret, backupCodes: told.backupCodes, session }
}
const actions = async () =>
  (await listChanges(services, { subject: id, limit: 20 })).map(({ action, detail }) => ({ action, detail }))

test('once it is set up, a password alone opens nothing; a code of the app does, and each code once', async () => {
  const { secret, session } = await setUp()
  expect((await session.person())?.id).toBe(id)
  const next = browser()
  expect(await signIn(next)).toMatchObject({ status: 200, told: { twoFactorRedirect: true } })
  expect(await next.person()).toBeNull()
  const code = totp(secret, 1)
  expect((await next.post('two-factor/verify-totp', { code, trustDevice: true })).status).toBe(200)
  expect((await next.person())?.id).toBe(id)
  // No browser is let off the next time.
  expect((await signIn(next)).told).toMatchObject({ twoFactorRedirect: true })
  const again = browser()
  await signIn(again)
  expect((await again.post('two-factor/verify-totp', { code })).status).toBe(401)
  expect(await again.person()).toBeNull()
  expect(await actions()).toContainEqual({ action: 'person.second-factor', detail: { on: true } })
})

test('what was not verified with a first code asks nobody for anything', async () => {
  const session = browser()
  await signIn(session)
  await session.post('two-factor/enable', { password: PASSWORD })
  const next = browser()
  await signIn(next)
  expect((await next.person())?.id).toBe(id)
})

test('it takes the password to set up, to turn off and to make backup codes', async () => {
  const { session } = await setUp()
  for (const path of ['enable', 'disable', 'generate-backup-codes'])
    expect((await session.post(`two-factor/${path}`, { password: 'some other words' })).status, path).toBe(
      400,
    )
  const [row] = await select<{ secret: string; codes: string }>(
    services.database.pool,
    'SELECT secret, backup_codes AS codes FROM two_factor WHERE user_id = ?',
    [id],
  )
  expect(row!.codes).not.toMatch(/[A-Za-z0-9]{5}-[A-Za-z0-9]{5}/)
  expect((await session.post('two-factor/disable', { password: PASSWORD })).status).toBe(200)
  const next = browser()
  await signIn(next)
  expect((await next.person())?.id).toBe(id)
  expect(await actions()).toContainEqual({ action: 'person.second-factor', detail: { on: false } })
})

test('a backup code lets in once, new ones end the old ones, and both are on record', async () => {
  const { backupCodes, session } = await setUp()
  expect(new Set(backupCodes).size).toBe(10)
  const enter = async (code: string) => {
    const next = browser()
    await signIn(next)
    await next.post('two-factor/verify-backup-code', { code })
    return (await next.person())?.id ?? null
  }
  expect(await enter(backupCodes[0]!)).toBe(id)
  expect(await enter(backupCodes[0]!)).toBeNull()
  await session.post('two-factor/generate-backup-codes', { password: PASSWORD })
  expect(await enter(backupCodes[1]!)).toBeNull()
  const told = (await actions()).map(({ action }) => action)
  expect(told).toEqual(expect.arrayContaining(['person.backup-code', 'person.backup-codes']))
})

test('guessing is bounded: five codes for one sign-in, ten in a row for an account, from wherever they come', async () => {
  const { secret } = await setUp()
  const wrong = { code: 'nocode' }
  const first = browser()
  await signIn(first)
  for (let n = 0; n < 5; n++) expect((await first.post('two-factor/verify-totp', wrong)).status).toBe(401)
  expect((await first.post('two-factor/verify-totp', { code: totp(secret, 1) })).status).toBe(400)
  const second = browser()
  await signIn(second)
  for (let n = 0; n < 5; n++) await second.post('two-factor/verify-totp', wrong)
  const third = browser()
  await signIn(third)
  expect((await third.post('two-factor/verify-totp', { code: totp(secret, 1) })).status).toBe(429)
  expect(await third.person()).toBeNull()
})

test('of whom it is asked, nothing is open but their own account until they have it, and at once', async () => {
  const session = browser()
  await signIn(session)
  await requireSecondFactor(services, id, true, 'boss@example.com')
  const person = (await session.person())!
  expect(person.owesSecondFactor).toBe(true)
  const caller = createCaller(appRouter)(requestOf(services, person))
  await expect(caller.runs.list({})).rejects.toMatchObject({ code: 'FORBIDDEN' })
  await expect(caller.queues.pause({ name: 'x' })).rejects.toMatchObject({ code: 'FORBIDDEN' })
  expect(await caller.session.me()).toMatchObject({ hasPassword: true, hasSecondFactor: false })
  const { told } = await session.post('two-factor/enable', { password: PASSWORD })
  const secret = new URL(told.totpURI).searchParams.get('secret')!
  await session.post('two-factor/verify-totp', { code: totp(secret) })
  const free = (await session.person())!
  expect(free.owesSecondFactor).toBeUndefined()
  expect(await createCaller(appRouter)(requestOf(services, free)).session.me()).toMatchObject({
    hasSecondFactor: true,
  })
  expect(await actions()).toContainEqual({
    action: 'person.second-factor.require',
    detail: { email: EMAIL, required: true },
  })
})

test('a second factor that is reset is gone with its codes and all sessions, and asks for another where one is required', async () => {
  const { session } = await setUp()
  await requireSecondFactor(services, id, true, 'boss@example.com')
  await resetSecondFactor(services, id, 'boss@example.com')
  expect(await session.person()).toBeNull()
  expect(await select(services.database.pool, 'SELECT 1 FROM two_factor')).toEqual([])
  const next = browser()
  await signIn(next)
  expect((await next.person())?.owesSecondFactor).toBe(true)
  expect((await actions())[0]).toEqual({ action: 'person.second-factor.reset', detail: { email: EMAIL } })
})
