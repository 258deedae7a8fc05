import { afterAll, beforeAll, expect, test } from 'vitest'
import { spiderSchema } from '../../core/spider'
import { urlHash } from '../../core/url'
import { items, pages } from '../../drizzle/schema/pages'
import { openServerRig, type ServerRig } from '../../tests/server-rig'
import { allItems, type Item, itemKinds, listItems } from './item-list'
import { createRun } from './runs'

let rig: ServerRig
let run: number
beforeAll(async () => {
  rig = await openServerRig()
  ;({ id: run } = await createRun(rig.services, {
    spider: rig.spider.id,
    queue: rig.queue,
    seeds: [{ url: 'https://a.test/' }],
    trigger: 'manual',
  }))
  const urls = Array.from({ length: 300 }, (_, n) => `https://a.test/${n}`)
  const at = { fetchedAt: new Date(), depth: 0, attempts: 0, deliveries: 1, items: 3, token: '1.1' }
  const { orm } = rig.services.database
  await orm
    .insert(pages)
    .values(urls.map((url) => ({ runId: run, urlHash: urlHash(url), url, state: 'done' as const, ...at })))
  await orm.insert(items).values(
    urls.flatMap((url, page) =>
      [0, 1, 2].map((n) => ({
        runId: run,
        urlHash: urlHash(url),
        n,
        name: n === 0 ? 'page' : 'offer',
        data: { title: `${page}-${n}`, odd: page % 100 === 7 ? 'rare_thing' : 'x' },
        createdAt: new Date(),
      })),
    ),
  )
})
afterAll(() => rig.close())

async function walked(input: { kind: string; search?: string; limit: number }, searchMs?: number) {
  const found: Item[] = []
  for (let after: { hash: string; n: number } | null | undefined; after !== null; ) {
    const page = await listItems(rig.services, { run, ...input, after }, searchMs)
    expect(page.items.length).toBeLessThanOrEqual(input.limit)
    found.push(...page.items)
    after = page.next
  }
  return found
}

const title = ({ data }: Item) => data.title

test('a list of items goes through all of a kind once, page by page, as a file does', async () => {
  const paged = await walked({ kind: 'offer', limit: 7 })
  expect(new Set(paged.map(title)).size).toBe(600)
  expect(paged).toHaveLength(600)
  const filed: Item[] = []
  for await (const item of allItems(rig.services, run, 'offer')) filed.push(item)
  expect(filed).toEqual(paged)
  expect(paged.every((item) => item.url === `https://a.test/${String(title(item)).split('-')[0]}`)).toBe(true)
})

test('a search finds what stands in a field or the address, also when each answer runs out of time', async () => {
  expect((await walked({ kind: 'offer', search: 'rare_', limit: 4 }, 0)).map(title).toSorted()).toEqual([
    '107-1',
    '107-2',
    '207-1',
    '207-2',
    '7-1',
    '7-2',
  ])
  expect((await walked({ kind: 'page', search: 'a.test/299', limit: 4 })).map(title)).toEqual(['299-0'])
  expect(await walked({ kind: 'page', search: 'rareXthing', limit: 4 })).toEqual([])
})

test('the columns of a kind are those of the spider, in its order', () => {
  const field = { css: 'h1' }
  const spider = (rules: unknown) => spiderSchema.parse({ name: 'x', items: rules })
  expect(
    itemKinds(
      spider([
        { name: 'b', fields: { z: field, a: field } },
        { name: 'a', fields: { k: field } },
        { name: 'b', fields: { a: field, c: field } },
      ]),
    ),
  ).toEqual([
    { name: 'b', fields: ['z', 'a', 'c'] },
    { name: 'a', fields: ['k'] },
  ])
  expect(itemKinds(spider(undefined))[0]!.name).toBe('page')
})
