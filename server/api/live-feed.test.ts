import { expect, test } from 'vitest'
import type { Services } from '../context'
import { LiveFeed } from './live-feed'
import type { Overview } from './overview'

const services = { log: { warn() {} } } as unknown as Services

/** A reader that counts its looks and may be told to fail. */
function countingReader() {
  const reader = {
    looks: 0,
    failing: false,
    read: async () => {
      reader.looks++
      if (reader.failing) throw new Error('away')
      return { at: Date.now() } as Overview
    },
  }
  return reader
}

/** The next `count` looks that a follower gets. */
async function take(stream: AsyncGenerator<Overview>, count: number): Promise<number[]> {
  const seen: number[] = []
  while (seen.length < count) seen.push((await stream.next()).value.at)
  return seen
}

test('many who follow cost one look a second', async () => {
  const reader = countingReader()
  const feed = new LiveFeed(services, reader)
  const stop = new AbortController()
  const streams = Array.from({ length: 20 }, () => feed.follow(stop.signal))
  const seen = await Promise.all(streams.map((stream) => take(stream, 2)))
  expect(new Set(seen.map(String)).size).toBe(1)
  expect(reader.looks).toBe(2)
  feed.close()
})

test('a client that comes back gets what it missed, once and in order', async () => {
  const feed = new LiveFeed(services, countingReader())
  const others = new AbortController()
  const [first, second, third] = await take(feed.follow(others.signal), 3)
  const back = await take(feed.follow(others.signal, first), 2)
  expect(back).toEqual([second, third])
  feed.close()
})

test('a stream ends when its client leaves, and looking ends with the last of them', async () => {
  const reader = countingReader()
  const feed = new LiveFeed(services, reader)
  const leave = new AbortController()
  const stream = feed.follow(leave.signal)
  await take(stream, 1)
  leave.abort()
  expect(await stream.next()).toEqual({ done: true, value: undefined })
  await expect.poll(() => feed.looking, { timeout: 3_000 }).toBe(false)
})

test('who begins to follow while the last one’s look is ending is not forgotten', async () => {
  const feed = new LiveFeed(services, countingReader())
  const leave = new AbortController()
  const stream = feed.follow(leave.signal)
  await take(stream, 1)
  leave.abort()
  await stream.next()
  expect(await take(feed.follow(new AbortController().signal), 2)).toHaveLength(2)
  feed.close()
})

test('a look that fails is followed by one that succeeds, without the client doing anything', async () => {
  const reader = countingReader()
  reader.failing = true
  const feed = new LiveFeed(services, reader)
  const next = take(feed.follow(new AbortController().signal), 1)
  await expect.poll(() => reader.looks).toBe(1)
  reader.failing = false
  expect(await next).toHaveLength(1)
  feed.close()
})
