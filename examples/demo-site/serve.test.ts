import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectedOutcome } from './expected'
import { type DemoServer, serveDemoSite } from './serve'

let demo: DemoServer
beforeAll(async () => {
  demo = await serveDemoSite()
})
afterAll(() => demo.close())

describe('the demo site', () => {
  test('holds 240 products on 12 list pages, and every link of it leads somewhere', () => {
    const { origin, resources } = demo.site
    const products = [...resources.keys()].filter((url) => url.startsWith(`${origin}/products/`))
    const lists = [...resources.keys()].filter((url) => /\/products(\?page=\d+)?$/.test(url))
    expect([products.length, lists.length]).toEqual([240, 12])
    const outcome = expectedOutcome(demo.site)
    expect(outcome.admitted).toBe(outcome.done + outcome.failed + outcome.ignored)
    expect(outcome.admitted).toBeGreaterThan(350)
  })

  test('answers what its model says, in the encodings it says', async () => {
    const gbk = await fetch(`${demo.url}zh/gbk/1`)
    expect(gbk.headers.get('content-type')).toBe('text/html')
    expect(new TextDecoder('gbk').decode(await gbk.arrayBuffer())).toContain('铁观音')
    const compressed = await fetch(`${demo.url}journal/water`)
    expect(compressed.headers.get('content-encoding')).toBe('gzip')
    expect(await compressed.text()).toContain('On Water')
    expect((await fetch(`${demo.url}old-shop`, { redirect: 'manual' })).status).toBe(301)
    expect((await fetch(`${demo.url}nothing-here`)).status).toBe(404)
  })

  test('is busy for the first who asks, and not for the next', async () => {
    expect((await fetch(`${demo.url}busy`)).status).toBe(503)
    expect((await fetch(`${demo.url}busy`)).status).toBe(200)
  })

  test('names the port that is taken', async () => {
    const port = Number(new URL(demo.url).port)
    await expect(serveDemoSite({ port })).rejects.toThrow(`port ${port}`)
  })
})
