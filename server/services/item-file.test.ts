import { expect, test } from 'vitest'
import { type ItemFormat, itemFile } from './item-file'
import type { Item } from './item-list'

const ITEMS: Item[] = [
  { hash: 'a', n: 0, url: 'https://a.test/1', data: { price: 5, title: '=HYPERLINK("https://evil.test")' } },
  { hash: 'b', n: 0, url: 'https://a.test/2', data: { tags: ['x', 'y'], title: '中文' } },
]

async function written(format: ItemFormat, items = ITEMS, mark = false): Promise<string> {
  let text = ''
  const all = (async function* () {
    yield* items
  })()
  for await (const part of itemFile(all, { format, fields: ['title', 'price', 'tags'], mark })) text += part
  return text
}

test('a CSV file has the columns asked for in that order, whatever each item has, and no formula', async () => {
  expect(await written('csv', ITEMS, true)).toBe(
    '\ufeffurl,title,price,tags\r\nhttps://a.test/1,"\'=HYPERLINK(""https://evil.test"")",5,\r\nhttps://a.test/2,中文,,"[""x"",""y""]"\r\n',
  )
})

test('JSON lines and JSON have the same fields, exactly as they were taken', async () => {
  const records = ITEMS.map(({ url, data }) => ({
    url,
    title: data.title,
    price: data.price ?? null,
    tags: data.tags ?? null,
  }))
  expect(
    (await written('jsonl'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual(records)
  expect(JSON.parse(await written('json'))).toEqual(records)
  expect(JSON.parse(await written('json', []))).toEqual([])
})
