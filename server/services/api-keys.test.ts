import { afterAll, beforeAll, expect, test } from 'vitest'
import { openServerRig, type ServerRig } from '../../tests/server-rig'
import { createKey, keyHolder, listKeys, revokeKey } from './api-keys'

let rig: ServerRig
beforeAll(async () => {
  rig = await openServerRig()
})
afterAll(() => rig.close())

const make = (more: { days?: number } = {}) =>
  createKey(rig.services, { name: 'nightly', role: 'operator', ...more }, 'lin@example.com')
const holder = (key: string, scheme = 'Bearer ') => keyHolder(rig.services, scheme + key)

test('a key acts with its role and under its name, and is told apart from people', async () => {
  const { id, key } = await make()
  expect(await holder(key)).toEqual({
    id: `key:${id}`,
    name: 'nightly',
    email: `key:${id} nightly`,
    role: 'operator',
  })
})

test('the record holds nothing that opens anything, and the list shows nothing secret', async () => {
  const { id, key } = await make()
  const secret = key.slice(`orb_${id}_`.length)
  expect(Buffer.from(secret, 'base64url')).toHaveLength(32)
  const stored = await rig.rows<{ secret_hash: Buffer }>('SELECT * FROM api_key')
  const changes = await rig.rows('SELECT * FROM audit_log')
  const dump = JSON.stringify([stored, changes, await listKeys(rig.services)])
  expect(dump).not.toContain(secret)
  expect(stored.some((row) => row.secret_hash.includes(Buffer.from(secret)))).toBe(false)
  expect(await listKeys(rig.services)).toContainEqual(
    expect.not.objectContaining({ secretHash: expect.anything() }),
  )
})

test('a key that was revoked, has expired, or differs by one character opens nothing', async () => {
  const { id, key } = await make()
  const last = key.at(-1) === 'A' ? 'B' : 'A'
  expect(await holder(key.slice(0, -2) + last + key.at(-1))).toBeNull()
  expect(await holder(key, '')).toBeNull()
  expect(await holder(key, 'Basic ')).toBeNull()
  expect(await holder('')).toBeNull()
  await revokeKey(rig.services, id, 'lin@example.com')
  await revokeKey(rig.services, id, 'lin@example.com')
  expect(await holder(key)).toBeNull()

  const old = await make({ days: 1 })
  expect(await holder(old.key)).not.toBeNull()
  await rig.rows('UPDATE api_key SET expires_at = UTC_TIMESTAMP(3) WHERE id = ?', [old.id])
  expect(await holder(old.key)).toBeNull()
})

test('use is remembered to the minute; making and revoking are changes on record, once each', async () => {
  const { id, key } = await make()
  await holder(key)
  const used = (await listKeys(rig.services)).find((one) => one.id === id)!.lastUsedAt!
  expect(Date.now() - used.getTime()).toBeLessThan(60_000)
  await holder(key)
  expect((await listKeys(rig.services)).find((one) => one.id === id)!.lastUsedAt).toEqual(used)
  await revokeKey(rig.services, id, 'lin@example.com')
  await revokeKey(rig.services, id, 'lin@example.com')
  expect(await rig.rows('SELECT actor, action FROM audit_log WHERE subject = ? ORDER BY id', [id])).toEqual([
    { actor: 'lin@example.com', action: 'key.create' },
    { actor: 'lin@example.com', action: 'key.revoke' },
  ])
  await expect(revokeKey(rig.services, '0123456789ab', 'x')).rejects.toThrow(/no API key 0123456789ab/)
})
