import { describe, expect, test } from 'vitest'
import { type SpiderInput, spiderSchema } from '../../core/spider'
import { compileSpider } from './compile-spider'
import { readPage } from './read-page'

type Rule = NonNullable<SpiderInput['items']>[number]
const url = 'http://shop.example/list/1'

function read(html: string, rule: Partial<Rule>, ...more: Rule[]) {
  const items = [{ name: 'thing', fields: { text: {} }, ...rule }, ...more]
  return readPage(html, url, compileSpider(spiderSchema.parse({ name: 's', items })))
}
const field = (html: string, one: Rule['fields'][string]) =>
  read(html, { fields: { one } }).items[0]?.data.one

const LIST = `<ul><li class=p><h2>Red  <b>shoe</b></h2><span class=price>¥1,299</span><a href="/p/1#top">more</a>
  <li class="p sold"><h2>Blue shoe</h2><a href=/p/2>more</a>
  <li class=p><span class=price>¥ 80.50</span><a href="javascript:x">more</a></ul>`

describe('items', () => {
  test('one for each node, missing values null, without a required one left out and counted', () => {
    const page = read(LIST, {
      each: 'li.p',
      fields: {
        name: { css: 'h2', required: true },
        price: { css: '.price', type: 'number' },
        link: { css: 'a', attr: 'href' },
      },
    })
    expect(page.items).toEqual([
      { name: 'thing', data: { name: 'Red shoe', price: 1299, link: 'http://shop.example/p/1#top' } },
      { name: 'thing', data: { name: 'Blue shoe', price: null, link: 'http://shop.example/p/2' } },
    ])
    expect(page.incomplete).toBe(1)
  })

  test('a page without any of the values holds no item, and none incomplete', () => {
    const fields = { name: { css: 'h2.none', required: true }, tags: { css: '.tag', list: true } }
    expect(read(LIST, { fields })).toMatchObject({ items: [], incomplete: 0 })
  })

  test('a rule with a URL pattern is asked on matching pages alone', () => {
    expect(read('<p>x', { url: '/list/\\d+$' }).items).toHaveLength(1)
    expect(read('<p>x', { url: '/product/' }).items).toHaveLength(0)
  })

  test('several rules each give their own', () => {
    const more: Rule = { name: 'other', each: 'li', fields: { n: { css: 'h2' } } }
    expect(read(LIST, {}, more).items.map((item) => item.name)).toEqual(['thing', 'other', 'other'])
  })

  test('at most 10,000 are taken from a page, and the page says it was cut', () => {
    const page = read('<p>x'.repeat(10_001), { each: 'p' })
    expect(page.items).toHaveLength(10_000)
    expect(page.cut).toBe(true)
  })

  test.each(['i ~ p', 'p:nth-child(2n)', 'p:nth-last-of-type(3n)', 'p:has(~ i)'])(
    'a selector that is slow on a page made for it, %s, gives up instead of blocking',
    (each) => {
      const before = process.cpuUsage()
      expect(read('<p>x</p>'.repeat(100_000), { each }).cut).toBe(true)
      expect(process.cpuUsage(before).user / 1000).toBeLessThan(10_000)
    },
  )

  test('a page whose items would hold endless text is cut', () => {
    const page = read(`${'<div>'.repeat(400)}${'x'.repeat(500_000)}`, { each: 'div' })
    expect(page.cut).toBe(true)
    expect(page.items.length).toBeGreaterThan(0)
    expect(JSON.stringify(page.items).length).toBeLessThan(10_000_000)
  })
})

describe('where a field is read', () => {
  test.each([
    ['<p>a<p>b', { css: 'p' }, 'a'],
    ['<p>a<p>b', { css: 'p', list: true }, ['a', 'b']],
    ['<p>a', { css: 'i', list: true }, undefined],
    ['<p>a<p title="T">b', { css: 'p[title]', attr: 'title' }, 'T'],
    ['<P TITLE=" T\n t ">b', { css: 'p', attr: 'TITLE' }, 'T t'],
    ['<p title="">b', { css: 'p', attr: 'title' }, undefined],
    ['<p>b', { css: 'p', attr: 'constructor' }, undefined],
    ['<p>b', { css: 'p[constructor]' }, undefined],
    ['<img src="a.png">', { css: 'img', attr: 'src' }, 'http://shop.example/list/a.png'],
    [
      '<base href="//cdn.example/"><img src="a.png">',
      { css: 'img', attr: 'src' },
      'http://cdn.example/a.png',
    ],
    ['<a href="x#y">t</a>', { css: 'a', type: 'url' }, 'http://shop.example/list/x#y'],
    ['<code>/p?x</code>', { css: 'code', type: 'url' }, 'http://shop.example/p?x'],
    ['<p>SKU: 12-34', { css: 'p', regex: 'SKU: ([\\d-]+)' }, '12-34'],
    ['<p>SKU: 12-34', { regex: '\\d+' }, '12'],
    ['<p>1 a 2 b<p>3', { css: 'p', regex: '\\d', list: true, type: 'integer' }, [1, 2, 3]],
    ['<p>no', { css: 'p', regex: '\\d' }, undefined],
    [
      '<p>x <b title="&quot;">1 &lt; 2</b><br>&nbsp;</p>',
      { css: 'p', type: 'html' },
      'x <b title="&quot;">1 &lt; 2</b><br>&nbsp;',
    ],
    ['<div><script>a<b</script></div>', { css: 'div', type: 'html' }, '<script>a<b</script>'],
    [
      '<script>var price = 12.5</script>',
      { css: 'script', regex: 'price = ([\\d.]+)', type: 'number' },
      12.5,
    ],
    ['<div>a<script>b</script><style>c</style><!-- d -->e</div>', { css: 'div' }, 'ae'],
    ['<table><tr><td>a<td>b<tr><td>c</table>', { css: 'table' }, 'a b c'],
    ['<p>a<br>b', { css: 'p' }, 'a b'],
    ['<dl><dt>A<dd>1<dt>B<dd>2</dl>', { css: 'dt:contains("B") + dd' }, '2'],
    ['<svg><path/><text>in</text></svg><p>out', { css: 'p' }, 'out'],
    ['<input checked>', { css: 'input', attr: 'checked', type: 'boolean' }, true],
    ['<p>a\0b\ud800', { css: 'p' }, 'ab\uFFFD'],
  ] as [string, Rule['fields'][string], unknown][])('%s by %j is %j', (html, one, expected) => {
    expect(field(html, one)).toEqual(expected)
  })

  test('a selector may begin with a combinator or :scope, below the item’s node', () => {
    const page = read('<div class=i><b><i>deep</i></b><i>near</i></div>', {
      each: '.i',
      fields: { child: { css: '> i' }, scope: { css: ':scope > i' }, any: { css: 'i', list: true } },
    })
    expect(page.items[0]?.data).toEqual({ child: 'near', scope: 'near', any: ['deep', 'near'] })
  })

  test('a field is at most one megabyte, cut between characters', () => {
    const text = field(`<p>${'中'.repeat(400_000)}`, { css: 'p' }) as string
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1_048_576)
    expect(text).toMatch(/^中+$/)
  })
})
