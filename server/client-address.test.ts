import { expect, test } from 'vitest'
import { parseEnv } from '../core/env'
import { clientAddress, isWithin } from './client-address'

const PEER = '10.1.0.1'
const CHAIN = '1.1.1.1, 203.0.113.7, 10.2.0.2'

test.each([
  ['0', CHAIN, PEER],
  ['1', CHAIN, '10.2.0.2'],
  ['2', CHAIN, '203.0.113.7'],
  ['9', CHAIN, '1.1.1.1'],
  ['1', undefined, PEER],
  ['10.0.0.0/8', CHAIN, '203.0.113.7'],
  ['10.1.0.1', CHAIN, '10.2.0.2'],
  ['192.168.0.0/16,::1', CHAIN, PEER],
  ['10.0.0.0/8', undefined, PEER],
  ['10.0.0.0/8', '10.9.9.9', '10.9.9.9'],
  ['10.0.0.0/8', '1.1.1.1, unknown', PEER],
  ['10.0.0.0/8', '203.0.113.7:4711', '203.0.113.7'],
  ['10.0.0.0/8', '[2001:db8::7]:4711', '2001:db8::7'],
  ['10.0.0.0/8', '::ffff:203.0.113.7, ::ffff:10.0.0.3', '203.0.113.7'],
])('with TRUSTED_PROXIES=%s, X-Forwarded-For %s means the client is %s', (proxies, forwarded, client) => {
  const { TRUSTED_PROXIES } = parseEnv({ TRUSTED_PROXIES: proxies })
  expect(clientAddress(PEER, forwarded, TRUSTED_PROXIES)).toBe(client)
  expect(clientAddress(`::ffff:${PEER}`, forwarded, TRUSTED_PROXIES)).toBe(client)
})

test('nobody is trusted unless it is said', () => {
  expect(clientAddress(PEER, CHAIN, parseEnv({}).TRUSTED_PROXIES)).toBe(PEER)
})

test.each(['all', '10', '10.0.0.0/33', '10.0.0', 'nginx,10.0.0.1', '10.0.0.1,'])(
  'TRUSTED_PROXIES=%s is refused, or is a number of proxies',
  (proxies) => {
    if (proxies === '10') expect(parseEnv({ TRUSTED_PROXIES: proxies }).TRUSTED_PROXIES).toBe(10)
    else
      expect(() => parseEnv({ TRUSTED_PROXIES: proxies })).toThrow(
        /TRUSTED_PROXIES: ".*" is neither an address nor a network; write/,
      )
  },
)

test('an address is within a network when its leading bits are, and what is no address is within none', () => {
  const networks = parseEnv({ METRICS_NETWORKS: '10.1.0.0/16,2001:db8::7' }).METRICS_NETWORKS!
  const within = ['10.1.2.3', '::ffff:10.1.2.3', '2001:db8::7']
  const outside = ['10.2.0.1', '2001:db8::8', '', 'localhost', '10.1.2.3, 10.1.2.4']
  expect(within.filter((address) => !isWithin(address, networks))).toEqual([])
  expect(outside.filter((address) => isWithin(address, networks))).toEqual([])
})
