import { expect, it } from 'vitest'
import { isChallenge } from './challenge'
import type { Fetched } from './fetch/fetcher'

const answer = (status: number, headers: Record<string, string>, body: string): Fetched => ({
  url: 'http://h.example/',
  finalUrl: 'http://h.example/',
  status,
  headers,
  contentType: 'text/html',
  body: Buffer.from(body),
  truncated: null,
  wireBytes: body.length,
  headersMs: 1,
  ms: 1,
  lenient: false,
  redirects: [],
  hops: [],
})

it.each([
  [403, { 'cf-mitigated': 'challenge' }, ''],
  [503, {}, '<script src="/cdn-cgi/challenge-platform/h/b/orchestrate"></script>'],
  [202, { 'x-amzn-waf-action': 'challenge' }, ''],
  [403, {}, '<script src="https://geo.captcha-delivery.com/c.js">'],
  [200, {}, '<iframe src="/_Incapsula_Resource?x">'],
] as const)('%i with %j and %s is a test of who asks', (status, headers, body) => {
  expect(isChallenge(answer(status, headers, body))).toBe(true)
})

it.each([
  [200, {}, `<p>How /cdn-cgi/challenge-platform/ works</p>${'text '.repeat(3000)}`],
  [403, {}, 'Forbidden'],
  [503, { 'retry-after': '3' }, 'down for maintenance'],
  [404, {}, 'px-captcha'],
] as const)('%i with %j and other content is an answer', (status, headers, body) => {
  expect(isChallenge(answer(status, headers, body))).toBe(false)
})
