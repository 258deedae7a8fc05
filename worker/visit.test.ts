import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { spiderSchema } from '../core/spider'
import { Cookies } from './cookies'
import { compileSpider } from './extract/compile-spider'
import { MAX_LINKS } from './extract/read-page'
import { createFetcher } from './fetch/fetcher'
import { KnownLinks } from './known-links'
import { SignIn } from './sign-in'
import { type VisitParts, visit } from './visit'

const site = createServer((request, response) => {
  const many = request.url === '/many' ? MAX_LINKS + 1 : 1
  response.setHeader('content-type', 'text/html')
  response.end(
    `<title>${request.url}</title>${Array.from({ length: many }, (_, n) => `<a href="/${n}">`).join('')}`,
  )
})
const fetcher = createFetcher({
  userAgent: 'Orbweaver/test',
  connectTimeoutMs: 5_000,
  readTimeoutMs: 10_000,
  totalTimeoutMs: 15_000,
  maxRedirects: 5,
  maxBytes: 10_000_000,
})
let origin: string

beforeAll(async () => {
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
})
afterAll(async () => {
  await fetcher.close()
  site.close()
})

test('a page with more links than are taken is done, and log and row say that it was cut', async () => {
  const spider = compileSpider(spiderSchema.parse({ name: 'many', robots: 'ignore', allowPrivate: true }))
  const log = { info: vi.fn(), warn: vi.fn() }
  const parts = {
    fetcher,
    known: new KnownLinks(),
    cookies: new Cookies(),
    signIn: new SignIn(async () => []),
    log,
    policy: { retryTimes: 0, retryCodes: [] },
    userAgent: 'Orbweaver/test',
    addressDelayMs: () => null,
    delayMs: () => 0,
    run: async (id: number) => ({ id, spider, seeds: { hosts: new Set(), sites: new Set() } }),
  } as unknown as VisitParts
  const look = async (path: string) => {
    const url = origin + path
    const lease = { run: 7, url, host: 'x', depth: 0, priority: 0, attempts: 0, deliveries: 0, token: '1.1' }
    const visited = await visit(lease as never, new AbortController().signal, parts)
    return 'finished' in visited ? visited.finished : undefined
  }
  const whole = await look('/one')
  expect(whole!.record).toMatchObject({ state: 'done', reason: null })
  expect(log.warn).not.toHaveBeenCalled()
  const cut = await look('/many')
  expect(cut!.record).toMatchObject({ state: 'done', reason: 'cut', title: '/many' })
  expect(cut!.links).toHaveLength(MAX_LINKS)
  expect(log.warn.mock.calls).toEqual([
    [{ url: `${origin}/many`, run: 7, links: MAX_LINKS }, expect.stringMatching(/more links/)],
  ])
})
