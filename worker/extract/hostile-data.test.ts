import { describe, expect, test } from 'vitest'
import { type SpiderInput, spiderSchema } from '../../core/spider'
import { compileSpider } from './compile-spider'
import { readData, readPage } from './read-page'

type Rule = NonNullable<SpiderInput['items']>[number]
const url = 'http://shop.example/'
const deep = (open: string, close: string, levels: number) => open.repeat(levels) + close.repeat(levels)
const script = (json: string) => `<script type=application/ld+json id=s>${json}</script>`

/** What a rule takes from a page made to keep it busy, within ten seconds of the processor at the very worst. */
function bounded(text: string, rule: Partial<Rule>, syntax: 'html' | 'json' = 'html') {
  const items = [{ name: 'thing', fields: { text: {} }, ...rule }]
  const spider = compileSpider(spiderSchema.parse({ name: 's', items }))
  const before = process.cpuUsage()
  const page = syntax === 'html' ? readPage(text, url, spider) : readData(text, syntax, url, spider)
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(10_000)
  return page
}

const one = (field: Rule['fields'][string]): Partial<Rule> => ({ fields: { one: field } })

describe('data made to keep a worker busy ends in bounded time', () => {
  test.each(['$..*..*', '$..[?count($..*) > 0]', '$..[?count(@..*) < 0]'])(
    'JSONPath %s on much JSON',
    (jsonpath) => {
      const json = JSON.stringify(Array.from({ length: 3000 }, () => [[[[1, 2], { y: 3 }]]]))
      bounded(json, one({ jsonpath, list: true }), 'json')
    },
  )

  test('JSON nested 100,000 deep', () => {
    const json = deep('[', ']', 100_000)
    expect(bounded(json, one({ jsonpath: '$..a', list: true }), 'json').cut).toBe(true)
    bounded(json, one({ jsonpath: '$', type: 'json' }), 'json')
    bounded(script(json), one({ jsonLd: 'Product.name' }))
    bounded(script(`{"@type":${json}}`), one({ jsonLd: 'Product' }))
    bounded(script(`x = ${deep('[{"a":', '}]', 100_000)}`), one({ script: '#s', jsonpath: '$..a' }))
  })

  test('a pattern out of the data that a backtracking engine never ends, or that stands for many states', () => {
    const text = `${'a'.repeat(100_000)}b`
    for (const p of ['^(a|a)*$', '^(a+)+$', '[ab]{1000}{1000}c']) {
      const json = JSON.stringify([{ text, p }])
      expect(bounded(json, one({ jsonpath: '$[?search(@.text, @.p)].p' }), 'json').items).toEqual([])
    }
  })

  test('cells that claim a billion rows and columns', () => {
    const row = '<tr><td rowspan=1000000000 colspan=1000000000>x'
    const page = bounded(`<table>${row.repeat(40_000)}</table>`, {
      ...one({ jsonpath: '$.x' }),
      from: { table: 'table' },
    })
    expect(page.cut).toBe(true)
  })

  test('a table of header rows alone, each a megabyte', () => {
    const row = `<tr><th colspan=1000>${'x'.repeat(1_000_000)}`
    bounded(`<table>${row.repeat(5)}<tr><td>1</table>`, one({ table: 'table', type: 'json', list: true }))
  })

  test('300,000 items of microdata, some nested, some each referring to all', () => {
    bounded('<p itemscope>'.repeat(300_000), one({ microdata: 'Product.name' }))
    bounded('<div itemscope itemprop="a b c">'.repeat(100_000), one({ microdata: 'a.b.c', list: true }))
    const ids = Array.from({ length: 1000 }, (_, n) => `i${n}`)
    const all = ids.map(
      (id) => `<p id=${id} itemscope itemprop="a ${'a '.repeat(50)}" itemref="${ids.join(' ')}">`,
    )
    bounded(all.join('</p>'), one({ microdata: 'Product.a', list: true }))
    bounded(`<div itemscope>${all.join('</p>')}`, one({ microdata: 'a.a.a.a', type: 'json', list: true }))
  })

  test('two items of microdata that refer to each other', () => {
    const html =
      '<p itemscope itemref=b id=a itemprop=x>1</p><p itemscope itemref=a id=b itemprop=x>2</p><p itemscope itemref=a>'
    bounded(html, one({ microdata: 'x', type: 'json' }))
  })

  test('300,000 meta elements of one name', () => {
    const page = bounded('<meta name=a content=x>'.repeat(200_000), one({ meta: 'a', list: true }))
    expect(page.items[0]?.data.one).toHaveLength(10_000)
  })

  test('a script of a million quotes and brackets', () => {
    for (const piece of ['"\\', '[', '{"', '"[', '[]', '=['])
      bounded(script(`a=${piece.repeat(500_000)}`), one({ script: '#s', jsonpath: '$..a' }))
  })

  test('replacements that grow without end', () => {
    const grow = { replace: 'a', with: 'a'.repeat(200) }
    const text = `<p>${'a,'.repeat(200_000)}`
    bounded(text, one({ css: 'p', transforms: [grow, grow, grow, grow] }))
    const page = bounded(
      text,
      one({ css: 'p', list: true, transforms: [{ split: ',' }, grow, grow, grow, grow] }),
    )
    expect(page.cut).toBe(true)
  })

  test('10,000 items that each ask for the data of the whole page', () => {
    const html = script(JSON.stringify(Array.from({ length: 50_000 }, () => 1))) + '<p>x'.repeat(10_000)
    expect(bounded(html, { each: 'p', ...one({ jsonLd: 'name' }) }).cut).toBe(true)
  })
})
