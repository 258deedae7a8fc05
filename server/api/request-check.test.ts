import { beforeAll, expect, test } from 'vitest'
import { setEnv } from '../../core/env'
import { refusal } from './request-check'

beforeAll(() => setEnv({ PUBLIC_URL: 'https://crawl.example.com' }))

const fine = {
  'content-type': 'application/json',
  'content-length': '2',
  host: '127.0.0.1:3000',
  origin: 'http://127.0.0.1:3000',
}
const statusOf = (headers: Record<string, string>, method = 'POST') =>
  refusal(new Request('http://127.0.0.1:3000/api/trpc/runs.start', { method, headers }))?.status ?? 200

test('a change from the console’s own pages is let through, at its public address and at the one it was sent to', () => {
  expect(statusOf(fine)).toBe(200)
  expect(statusOf({ ...fine, origin: 'https://crawl.example.com' })).toBe(200)
  expect(statusOf({ host: '127.0.0.1:3000' }, 'GET')).toBe(200)
})

test.each([
  ['a foreign page', { ...fine, origin: 'https://evil.example' }, 403],
  ['a sandboxed frame', { ...fine, origin: 'null' }, 403],
  ['a sibling of the public address', { ...fine, origin: 'https://other.example.com' }, 403],
  ['another port of the same machine', { ...fine, origin: 'http://127.0.0.1:3001' }, 403],
  ['no origin at all', { ...fine, origin: '' }, 403],
  ['a form', { ...fine, 'content-type': 'application/x-www-form-urlencoded' }, 415],
  ['a form that says text/plain', { ...fine, 'content-type': 'text/plain' }, 415],
  ['no length', { ...fine, 'content-length': '' }, 411],
  ['a body of two megabytes', { ...fine, 'content-length': '2097152' }, 413],
])('a change from %s is turned away', (_, headers, status) => {
  expect(statusOf(headers)).toBe(status)
})
