import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { setEnv } from '../../core/env'
import { openServerRig, type ServerRig } from '../../tests/server-rig'
import { databaseNow } from '../services/schedules'
import { deleteChannel, listChannels, saveChannel } from './channel-settings'
import { deliver, MOST_TRIES, replay, testChannel, waitSeconds } from './deliver'
import { evaluateRule } from './evaluate'
import { readRules } from './rule-settings'
import { SECRET, startServices } from './services-fixture'

const always = () => true
let rig: ServerRig
let services: Awaited<ReturnType<typeof startServices>>
let channel: number
beforeAll(async () => {
  rig = await openServerRig()
  setEnv({ AUTH_SECRET: 'of-this-test-run-only-0123456789abcdef', ALERTS_ALLOW_PRIVATE: 'true' })
  services = await startServices()
})
afterAll(async () => {
  await services.close()
  await rig.close()
})
beforeEach(async () => {
  for (const table of ['alerts', 'alert_deliveries', 'alert_channels', 'worker_events'])
    await rig.rows(`DELETE FROM ${table}`)
  services.taken.length = 0
  services.state.fail = null
  channel = await saveChannel(rig.services, hook(), 'admin@example.com')
})

const hook = () => ({
  kind: 'webhook' as const,
  name: 'Ours',
  enabled: true,
  language: 'en' as const,
  settings: { url: `${services.address}/webhook`, secret: SECRET },
})

/** An alert that fires, with its message written and not yet sent. */
async function fire(): Promise<void> {
  await rig.rows(
    "INSERT INTO worker_events (worker_id, queue, kind, detail, at) VALUES ('w-1', 'q', 'oom', 'killed', UTC_TIMESTAMP(3))",
  )
  const rule = (await readRules(rig.services)).find(({ kind }) => kind === 'out_of_memory')!
  await evaluateRule(rig.services, rule, await databaseNow(rig.services))
}
const rows = () =>
  rig.rows<{ id: number; state: string; attempts: number; tries: string; wait: number }>(
    'SELECT *, TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(3), next_at) AS wait FROM alert_deliveries ORDER BY id',
  )
const dueNow = () => rig.rows('UPDATE alert_deliveries SET next_at = UTC_TIMESTAMP(3)')

test('a message is sent once, however many processes deliver, with its id and a signature', async () => {
  await fire()
  // All connections are open, so that all look before the first has taken it.
  await Promise.all(Array.from({ length: 8 }, () => rig.rows('SELECT SLEEP(0.2)')))
  await Promise.all(Array.from({ length: 8 }, () => deliver(rig.services, always)))
  expect(services.taken).toHaveLength(1)
  expect(services.taken[0]!.headers['x-orbweaver-id']).toMatch(/^alert-\d+-firing-\d+$/)
  expect(JSON.parse(services.taken[0]!.body)).toMatchObject({
    event: 'firing',
    rule: 'out_of_memory',
    figure: 1,
    threshold: 1,
  })
  expect(await rows()).toMatchObject([{ state: 'sent', attempts: 1 }])
})

test('a message that nobody takes is tried again after longer and longer waits, and is then a dead letter that can be sent again', async () => {
  await fire()
  services.state.fail = { status: 503, body: 'later' }
  for (let n = 1; n <= MOST_TRIES; n++) {
    await deliver(rig.services, always)
    const [row] = await rows()
    expect(row).toMatchObject({ attempts: n, state: n < MOST_TRIES ? 'waiting' : 'dead' })
    expect(row!.wait).toBeGreaterThanOrEqual(Math.floor(Math.min(3600, 10 * 2 ** (n - 1)) * 0.75) - 2)
    // Not due yet: a turn does nothing.
    await deliver(rig.services, always)
    expect((await rows())[0]!.attempts).toBe(n)
    await dueNow()
  }
  await deliver(rig.services, always)
  const [dead] = await rows()
  expect(JSON.parse(dead!.tries)).toHaveLength(MOST_TRIES)
  expect(JSON.parse(dead!.tries)[0]).toMatchObject({ answer: 'HTTP 503: later' })
  services.state.fail = null
  await replay(rig.services, dead!.id, 'operator@example.com')
  await deliver(rig.services, always)
  expect(services.taken).toHaveLength(1)
  expect(await rows()).toMatchObject([{ state: 'sent', attempts: 1 }])
})

test('what a process had taken and not sent when it ended is sent by another, under the same id', async () => {
  await fire()
  await rig.rows(
    "UPDATE alert_deliveries SET state = 'sending', attempts = 1, next_at = UTC_TIMESTAMP(3) + INTERVAL 1 MINUTE",
  )
  await deliver(rig.services, always)
  expect(services.taken).toEqual([])
  await dueNow()
  await deliver(rig.services, always)
  expect(services.taken).toHaveLength(1)
})

test('waits grow to an hour', () => {
  expect(waitSeconds(1)).toBeLessThanOrEqual(10)
  expect(waitSeconds(1)).toBeGreaterThanOrEqual(7.5)
  expect(waitSeconds(30)).toBeGreaterThanOrEqual(2700)
  expect(waitSeconds(30)).toBeLessThanOrEqual(3600)
})

test('a test tells the answer of the other side at once, and is not tried again', async () => {
  expect(await testChannel(rig.services, channel, 'admin@example.com')).toMatchObject({ taken: true })
  services.state.fail = { status: 401, body: 'bad signature' }
  expect(await testChannel(rig.services, channel, 'admin@example.com')).toMatchObject({
    taken: false,
    answer: 'HTTP 401: bad signature',
  })
  expect((await rows()).map(({ state }) => state)).toEqual(['sent', 'dead'])
})

test('no secret of a channel is shown, or stands in the database or the audit log in the open', async () => {
  const shown = await listChannels(rig.services)
  expect(shown).toMatchObject([
    { name: 'Ours', shown: new URL(services.address).host, kept: ['url', 'secret'], settings: {} },
  ])
  const everything = JSON.stringify([
    shown,
    await rig.rows('SELECT * FROM alert_channels'),
    await rig.rows('SELECT * FROM audit_log'),
  ])
  expect(everything).not.toContain(SECRET)
  expect(everything).not.toContain('/webhook"')
})

test('a channel keeps the secrets that are not entered anew, and loses its waiting messages with itself', async () => {
  await saveChannel(
    rig.services,
    { ...hook(), id: channel, name: 'Renamed', settings: {} },
    'admin@example.com',
  )
  expect(await testChannel(rig.services, channel, 'admin@example.com')).toMatchObject({ taken: true })
  await fire()
  await deleteChannel(rig.services, channel, 'admin@example.com')
  expect((await rows()).map(({ state }) => state)).toEqual(['sent'])
  await expect(testChannel(rig.services, channel, 'admin@example.com')).rejects.toThrow(/no channel/)
})

test.each([
  [{ url: 'ftp://a.test/', secret: SECRET }, /its url is not usable/],
  [{ url: 'https://a.test/', secret: 'short' }, /its secret is not usable/],
  [{ url: 'https://a.test/', secret: SECRET, more: 1 }, /not usable/],
])('a webhook with %j is refused with the name of what is wrong', async (settings, why) => {
  await expect(saveChannel(rig.services, { ...hook(), settings }, 'admin@example.com')).rejects.toThrow(why)
})
