import { describe, expect, test } from 'vitest'
import { type SpiderInput, spiderSchema } from '../../core/spider'
import { compileSpider } from './compile-spider'
import type { Syntax } from './fields'
import { readData, readPage } from './read-page'

type Rule = NonNullable<SpiderInput['items']>[number]
type Field = Rule['fields'][string]
const url = 'http://shop.example/list/1'

function read(text: string, rule: Partial<Rule>, syntax: Syntax = 'html') {
  const items = [{ name: 'thing', fields: { text: {} }, ...rule }]
  const spider = compileSpider(spiderSchema.parse({ name: 's', items }))
  return syntax === 'html' ? readPage(text, url, spider) : readData(text, syntax, url, spider)
}
const data = (...args: Parameters<typeof read>) => read(...args).items.map((item) => item.data)
const field = (text: string, one: Field, syntax?: Syntax) => data(text, { fields: { one } }, syntax)[0]?.one

const HEAD = `<meta name=Description content="All shoes"><meta property="og:title" content="Shoes">
  <meta property="og:image" content="/1.png"><meta property="og:image" content="/2.png">
  <meta property="article:author" content="Lin"><meta http-equiv=x-kind content=list>`
const OFFERS = `<script type="application/ld+json; charset=utf-8">
  {"@graph":[{"@type":["https://schema.org/Product"],"name":"Shoe","offers":[{"price":"12.50"},{"price":9}],
  "review":{"@type":"Review","itemReviewed":{"@type":"schema:Product","name":"Other"}}}]}</script>
  <script type="application/ld+json">{broken</script><script type="application/ld+json"><!-- {"@type":"Event",
  "description":"two
lines"} --></script>`
const MICRO = `<div itemscope itemtype="https://schema.org/Product" itemref="more"><h1 itemprop="name alternateName">Red
  shoe</h1><img itemprop=image src=/r.png><div itemprop=offers itemscope itemtype=https://schema.org/Offer>
  <span itemprop=price content=12.5>12,50 €</span><link itemprop=availability href=https://schema.org/InStock></div></div>
  <p id=more><b itemprop=sku>77</b><span itemprop=brand itemscope><i itemprop=name>Ox</i></span></p>`
const STATE = `<script>track();</script><script id=s>window.state = {"list":[{"name":"a","price":1},{"name":"b}","price":2}],
  "total":2};(function(){ go({}) }())</script>`

describe('a field is taken from', () => {
  test.each<[string, string, Field, unknown]>([
    ['a meta element by its name, in any case', HEAD, { meta: 'description' }, 'All shoes'],
    ['a meta element by its http-equiv', HEAD, { meta: 'X-Kind' }, 'list'],
    ['Open Graph, og: left out', HEAD, { openGraph: 'title' }, 'Shoes'],
    ['Open Graph with a prefix of its own', HEAD, { openGraph: 'article:author' }, 'Lin'],
    [
      'Open Graph, all values',
      HEAD,
      { openGraph: 'image', type: 'url', list: true },
      ['http://shop.example/1.png', 'http://shop.example/2.png'],
    ],
    ['JSON-LD by type, in a graph', OFFERS, { jsonLd: 'Product.name' }, 'Shoe'],
    ['JSON-LD, types at any depth', OFFERS, { jsonLd: 'Product.name', list: true }, ['Shoe', 'Other']],
    [
      'JSON-LD through lists',
      OFFERS,
      { jsonLd: 'Product.offers.price', type: 'number', list: true },
      [12.5, 9],
    ],
    [
      'JSON-LD in a comment, with a line break in a text',
      OFFERS,
      { jsonLd: 'Event.description' },
      'two lines',
    ],
    ['JSON-LD, whole', OFFERS, { jsonLd: 'Product.offers', type: 'json' }, { price: '12.50' }],
    ['microdata by type', MICRO, { microdata: 'Product.name' }, 'Red shoe'],
    ['microdata with two names', MICRO, { microdata: 'Product.alternateName' }, 'Red shoe'],
    [
      'microdata with content beside its text',
      MICRO,
      { microdata: 'Product.offers.price', type: 'number' },
      12.5,
    ],
    ['a URL of microdata', MICRO, { microdata: 'Product.image' }, 'http://shop.example/r.png'],
    ['microdata that itemref leads to', MICRO, { microdata: 'Product.sku', type: 'integer' }, 77],
    ['an item of microdata that itemref leads to', MICRO, { microdata: 'Product.brand.name' }, 'Ox'],
    [
      'a script that assigns JSON, program text behind it',
      STATE,
      { script: 'script', jsonpath: '$.list[*].name', list: true },
      ['a', 'b}'],
    ],
    [
      'a script by a filter with a pattern',
      STATE,
      { script: '#s', jsonpath: "$.list[?match(@.name, '[b-z].')].price", type: 'integer' },
      2,
    ],
    [
      'a list of JSON, whole',
      STATE,
      { script: '#s', jsonpath: '$.list[*].price', type: 'json', list: true },
      [1, 2],
    ],
    [
      'a list of JSON as it stands',
      '<script id=s>{"tags":["x",{"y":1}]}</script>',
      { script: '#s', jsonpath: '$.tags', type: 'json' },
      ['x', { y: 1 }],
    ],
    ['text that is JSON', '<p data-x=\'{"a":[1]}\'>', { css: 'p', attr: 'data-x', type: 'json' }, { a: [1] }],
    ['text that is no JSON: nothing', '<p>x', { css: 'p', type: 'json' }, undefined],
  ])('%s', (_, html, one, expected) => {
    expect(field(html, one)).toEqual(expected)
  })

  test('a JSON answer by JSONPath', () => {
    const text = '{"items":[{"id":1,"tags":["a","b"]},{"id":2,"tags":[]}],"next":"/p/2"}'
    const fields: Rule['fields'] = {
      id: { jsonpath: '$.id', type: 'integer' },
      tags: { jsonpath: '$.tags', list: true },
    }
    expect(data(text, { from: { jsonpath: '$.items' }, fields }, 'json')).toEqual([
      { id: 1, tags: ['a', 'b'] },
      { id: 2, tags: [] },
    ])
    expect(field(text, { jsonpath: '$.next', type: 'url' }, 'json')).toBe('http://shop.example/p/2')
    expect(read('no JSON', { fields }, 'json').items).toEqual([])
  })

  test('XML by CSS: elements that HTML would close stay open, CDATA is text', () => {
    const text =
      '<?xml version="1.0"?><r><link>http://a/</link><p>1<p>2</p></p><n/><c><![CDATA[a < b]]></c></r>'
    expect(field(text, { css: 'link' }, 'xml')).toBe('http://a/')
    expect(field(text, { css: 'p > p' }, 'xml')).toBe('2')
    expect(field(text, { css: 'n + c' }, 'xml')).toBe('a < b')
  })
})

describe('items of data', () => {
  const TABLE = `<table><thead><tr><th rowspan=2>City<th colspan=2>Sales<tr><th>2023<th>2024</thead>
    <tr><td rowspan=2>Köln<td>1<td>2<tr><td>3<td>4<tr><td>Bonn<td colspan=2>5
    <table><tr><td>inner</table></table>`

  test('are the rows of a table, spanning cells in each, the table in a cell left alone', () => {
    const fields: Rule['fields'] = {
      city: { jsonpath: '$.City' },
      sales: { jsonpath: "$['Sales 2024']", type: 'integer' },
    }
    expect(data(TABLE, { from: { table: 'table' }, fields }).slice(0, 3)).toEqual([
      { city: 'Köln', sales: 2 },
      { city: 'Köln', sales: 4 },
      { city: 'Bonn', sales: 5 },
    ])
  })

  test('are one object of a table whose first column has the headers', () => {
    const html = '<table><tr><th>Name<td>Ox<tr><th>Age<td>7</table>'
    expect(field(html, { table: 'table', type: 'json' })).toEqual({ Name: 'Ox', Age: '7' })
  })

  test('are the entries of an RSS or Atom feed', () => {
    const rss = `<rss><channel><title>C</title><item><title>One &amp; two</title><link>/1</link><pubDate>Mon, 06 May 2024 23:30:00 GMT</pubDate>
      <dc:creator>Lin</dc:creator><content:encoded><![CDATA[<p>Hi</p>]]></content:encoded><category>a</category><category>b</category></item></channel></rss>`
    const fields: Rule['fields'] = {
      title: { jsonpath: '$.title' },
      link: { jsonpath: '$.link' },
      at: { jsonpath: '$.published', type: 'date' },
      by: { jsonpath: '$.author' },
      body: { jsonpath: '$.content', transforms: ['text'] },
      tags: { jsonpath: '$.categories', list: true },
    }
    expect(data(rss, { from: { feed: true }, fields }, 'xml')).toEqual([
      {
        ...{
          title: 'One & two',
          link: 'http://shop.example/1',
          at: '2024-05-06T23:30:00Z',
          by: 'Lin',
          body: 'Hi',
        },
        tags: ['a', 'b'],
      },
    ])
    const atom = `<feed><entry><title>T</title><link rel=self href="/s"/><link href="/e"/><updated>2024-05-06T00:00:00Z</updated>
      <author><name>Wu</name></author></entry></feed>`
    expect(data(atom, { from: { feed: true }, fields }, 'xml')).toMatchObject([
      { title: 'T', link: 'http://shop.example/e', at: '2024-05-06T00:00:00Z', by: 'Wu' },
    ])
  })

  test('may be JSON-LD or microdata', () => {
    const name: Field = { jsonpath: '$.name' }
    expect(data(OFFERS, { from: { jsonLd: 'Product' }, fields: { name } })).toEqual([
      { name: 'Shoe' },
      { name: 'Other' },
    ])
    expect(data(MICRO, { from: { microdata: 'Product' }, fields: { name } })).toEqual([{ name: 'Red shoe' }])
  })
})

describe('fields within fields', () => {
  const html = '<div class=p><b>A</b><ul><li>x<i>1</i><li>y<li><i>3</i></ul></div><div class=p><b>B</b></div>'
  const rule: Partial<Rule> = {
    each: '.p',
    fields: {
      name: { css: 'b' },
      parts: { css: 'li', list: true, fields: { n: { css: 'i', type: 'integer', required: true }, all: {} } },
      first: { css: 'li', fields: { all: {} } },
    },
  }

  test('are objects; a part without what it needs is left out, the item stays', () => {
    expect(data(html, rule)).toEqual([
      {
        name: 'A',
        parts: [
          { n: 1, all: 'x1' },
          { n: 3, all: '3' },
        ],
        first: { all: 'x1' },
      },
      { name: 'B', parts: [], first: null },
    ])
    expect(read(html, rule).incomplete).toBe(0)
  })

  test('a default stands where there is nothing, and makes no item of nothing', () => {
    const fields: Rule['fields'] = {
      name: { css: 'b' },
      price: { css: '.none', type: 'number', default: 0, required: true },
      tags: { css: '.none', list: true, default: ['none'] },
    }
    expect(data(html, { each: '.p', fields })[1]).toEqual({ name: 'B', price: 0, tags: ['none'] })
    expect(data('<p>', { fields: { price: fields.price! } })).toEqual([])
  })
})

describe('what was found is changed', () => {
  test.each<[string, Field, unknown]>([
    ['Red SHOE', { transforms: ['lower'] }, 'red shoe'],
    ['Red', { transforms: ['upper'] }, 'RED'],
    ['a - ', { transforms: [{ replace: '-', with: '' }, 'trim'] }, 'a'],
    ['../x', { transforms: ['absolute'] }, 'http://shop.example/x'],
    ['&lt;b>Hi&lt;/b> you', { transforms: ['text'] }, 'Hi you'],
    ['2024-05', { transforms: [{ replace: '(\\d+)-(\\d+)', with: '$2/$1' }] }, '05/2024'],
    ['a, b,c', { transforms: [{ split: ',' }], list: true }, ['a', 'b', 'c']],
    ['a, b', { transforms: [{ split: ',' }] }, 'a'],
    [
      '1; 2',
      { transforms: [{ split: ';' }, { replace: '$', with: '0' }], list: true, type: 'integer' },
      [10, 20],
    ],
    ['1.299', { type: 'integer', decimal: ',' }, 1299],
    ['1,299', { type: 'number', decimal: ',' }, 1.299],
    ['1,299', { type: 'number', decimal: '.' }, 1299],
    ['2024-05-06 12:30', { type: 'date', zone: 'Asia/Shanghai' }, '2024-05-06T04:30:00Z'],
    ['2024-05-06', { type: 'date', zone: 'Asia/Shanghai' }, '2024-05-06'],
    ['2024-05-06 12:30 +02:00', { type: 'date', zone: 'Asia/Shanghai' }, '2024-05-06T10:30:00Z'],
    ['2024-03-31 02:30', { type: 'date', zone: 'Europe/Berlin' }, '2024-03-31T01:30:00Z'],
    ['2024-10-27 02:30', { type: 'date', zone: 'Europe/Berlin' }, '2024-10-27T00:30:00Z'],
    ['2024-10-27 03:30', { type: 'date', zone: 'Europe/Berlin' }, '2024-10-27T02:30:00Z'],
    ['2024-07-01 00:10', { type: 'date', zone: 'America/New_York' }, '2024-07-01T04:10:00Z'],
  ])('%s by %j is %j', (text, one, expected) => {
    expect(field(`<p>${text}</p>`, { css: 'p', ...one })).toEqual(expected)
  })
})
