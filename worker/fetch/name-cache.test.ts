import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test, vi } from 'vitest'
import type { Lookup } from '../../core/address-guard'
import { createFetcher } from './fetcher'
import { rememberNames } from './name-cache'

/** A resolver whose `n`-th answer is `10.0.0.n`, given when the test says so; `bad.example` has none. */
function resolver() {
  const waiting: (() => void)[] = []
  const asked: string[] = []
  const lookup: Lookup = (host, _options, done) => {
    const n = asked.push(host)
    waiting.push(() =>
      host === 'bad.example'
        ? done(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), [])
        : done(null, [{ address: `10.0.0.${n}`, family: 4 }]),
    )
  }
  return { lookup, asked, answer: () => waiting.splice(0).forEach((one) => void one()) }
}

const ask = (lookup: Lookup, host: string, family = 0) =>
  new Promise((resolve) =>
    lookup(host, { all: true, family }, (error, addresses) => resolve(error?.code ?? addresses[0]!.address)),
  )

test('those who wait for the same name are answered by one question', async () => {
  const { lookup, asked, answer } = resolver()
  const { lookup: remembering } = rememberNames(lookup, 60_000)
  const all = Promise.all([
    ask(remembering, 'a.example'),
    ask(remembering, 'a.example'),
    ask(remembering, 'b.example'),
  ])
  answer()
  expect(await all).toEqual(['10.0.0.1', '10.0.0.1', '10.0.0.2'])
  expect(asked).toEqual(['a.example', 'b.example'])
})

test('an answer holds for its time and no longer; a failure for five seconds at most', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  try {
    const { lookup, asked, answer } = resolver()
    const { lookup: remembering } = rememberNames(lookup, 60_000)
    const answered = async (host: string) => {
      const given = ask(remembering, host)
      answer()
      return given
    }
    expect([await answered('a.example'), await answered('bad.example')]).toEqual(['10.0.0.1', 'ENOTFOUND'])
    vi.advanceTimersByTime(4_900)
    await Promise.all([answered('a.example'), answered('bad.example')])
    expect(asked).toHaveLength(2)
    vi.advanceTimersByTime(200)
    await Promise.all([answered('a.example'), answered('bad.example')])
    expect(asked).toEqual(['a.example', 'bad.example', 'bad.example'])
    vi.advanceTimersByTime(55_000)
    expect(await answered('a.example')).toBe('10.0.0.4')
  } finally {
    vi.useRealTimers()
  }
})

test('addresses of one family are not taken for those of the other, and who changes an answer changes only theirs', async () => {
  const { lookup, asked, answer } = resolver()
  const { lookup: remembering } = rememberNames(lookup, 60_000)
  const both = Promise.all([ask(remembering, 'a.example', 4), ask(remembering, 'a.example', 6)])
  answer()
  expect(await both).toEqual(['10.0.0.1', '10.0.0.2'])
  expect(asked).toHaveLength(2)
  const first = await new Promise<{ address: string }[]>((resolve) =>
    remembering('a.example', { all: true, family: 4 }, (_, addresses) => resolve(addresses)),
  )
  first[0]!.address = '192.0.2.1'
  expect(await ask(remembering, 'a.example', 4)).toBe('10.0.0.1')
})

test('however many names are asked for, a bounded number is remembered', async () => {
  const { lookup, asked, answer } = resolver()
  const { lookup: remembering } = rememberNames(lookup, 60_000)
  const many = Promise.all(Array.from({ length: 20_001 }, (_, n) => ask(remembering, `h${n}.example`)))
  answer()
  await many
  const again = Promise.all([ask(remembering, 'h20000.example'), ask(remembering, 'h0.example')])
  answer()
  await again
  expect(asked).toHaveLength(20_002)
})

test('a host that moved is found at its new address by the next fetch, not only when its time is over', async () => {
  const site = createServer((_, response) => response.end('here')).listen(0, '127.0.0.1')
  await vi.waitUntil(() => site.listening)
  let address = '127.0.0.2'
  const fetcher = createFetcher({
    userAgent: 'test',
    connectTimeoutMs: 2_000,
    readTimeoutMs: 2_000,
    totalTimeoutMs: 4_000,
    maxRedirects: 0,
    maxBytes: 1_000,
    namesMs: 60_000,
    lookup: (_host, _options, done) => done(null, [{ address, family: 4 }]),
  })
  const url = `http://moved.example:${(site.address() as AddressInfo).port}/`
  const get = () =>
    fetcher.fetch(url, { allowPrivate: true, headers: {}, signal: new AbortController().signal })
  await expect(get()).rejects.toMatchObject({ code: 'connect' })
  address = '127.0.0.1'
  expect((await get()).status).toBe(200)
  await fetcher.close()
  site.close()
})
