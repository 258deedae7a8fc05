import { expect, test } from 'vitest'
import type { Lookup } from '../../core/address-guard'
import { serverAddress } from './server-address'

const answering =
  (...addresses: string[]): Lookup =>
  (_host, _options, done) =>
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
const of = (...addresses: string[]) => serverAddress('shop.example', answering(...addresses), 1_000)

test('hosts with an IPv4 address in common count as one, in whatever order they are told, and with or without IPv6', async () => {
  expect(await of('192.0.2.9', '192.0.2.1')).toBe('192.0.2.1')
  expect(await of('192.0.2.1', '192.0.2.9')).toBe('192.0.2.1')
  expect(await of('2001:db8::1', '192.0.2.1')).toBe('192.0.2.1')
  expect(await of('::ffff:192.0.2.1')).toBe('192.0.2.1')
})

test('hosts in one /64 network of IPv6 count as one, those in the next do not', async () => {
  const first = await of('2001:db8:0:1::1')
  expect(first).toBe('2001:db8:0:1::/64')
  expect(await of('2001:db8:0:1:ffff::9')).toBe(first)
  expect(await of('2001:db8:0:2::1')).not.toBe(first)
})

test('a host that is an address counts as that, and no name is asked for', async () => {
  const never: Lookup = () => {
    throw new Error('asked')
  }
  expect(await serverAddress('192.0.2.1', never, 1_000)).toBe('192.0.2.1')
  expect(await serverAddress('[::ffff:192.0.2.1]', never, 1_000)).toBe('192.0.2.1')
  expect(await serverAddress('[2001:db8::7]', never, 1_000)).toBe('2001:db8::/64')
})

test('a name without an address, or without an answer in time, counts as none', async () => {
  const none: Lookup = (_host, _options, done) =>
    done(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), [])
  expect(await serverAddress('gone.example', none, 1_000)).toBe(null)
  expect(await serverAddress('slow.example', () => {}, 10)).toBe(null)
})
