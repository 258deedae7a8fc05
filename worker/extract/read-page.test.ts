import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DEFAULT_SPIDER, spiderSchema } from '../../core/spider'
import { compileSpider } from './compile-spider'
import { MAX_LINKS, readPage } from './read-page'

const spider = compileSpider(DEFAULT_SPIDER)
const careless = compileSpider({ ...DEFAULT_SPIDER, robots: 'ignore' })
const url = 'http://shop.example/docs/start.html'
const read = (html: string) => readPage(html, url, spider)
const links = (html: string) => read(html).links

describe('links', () => {
  test.each([
    ['<a href="a.html">', ['http://shop.example/docs/a.html']],
    ["<A HREF='a.html'>", ['http://shop.example/docs/a.html']],
    ['<a href=a.html>', ['http://shop.example/docs/a.html']],
    ['<a href=" \n /a\t.html ">', ['http://shop.example/a.html']],
    ['<a href="?a=1&amp;b=2&copy=3">', ['http://shop.example/docs/start.html?a=1&b=2&copy=3']],
    ['<a href="/a&#x2F;b&amp;amp;c">', ['http://shop.example/a/b&amp;c']],
    ['<a href="/a" href="/b">', ['http://shop.example/a']],
    [
      '<a href="/a"><a href="/a#x"><a href="/b"><a href="/./a">',
      ['http://shop.example/a', 'http://shop.example/b'],
    ],
    ['<a href="#top">', ['http://shop.example/docs/start.html']],
    [
      '<area href="/a"><iframe src="/b"></iframe><frame src="/c">',
      ['/a', '/b', '/c'].map((p) => `http://shop.example${p}`),
    ],
    [
      '<link rel="next" href="/2"><link rel="nofollow PREV" href="/0">',
      ['/2', '/0'].map((p) => `http://shop.example${p}`),
    ],
    ['<link rel=stylesheet href=/s.css><link rel=canonical href=/c><link rel=alternate href=/rss>', []],
    ['<img src="/i.png"><script src="/s.js"></script><form action="/f">', []],
    ['<a data-href="/a" name="b">', []],
    [
      '<a href="javascript:go()"><a href="mailto:a@b"><a href="data:,x"><a href="tel:1"><a href="ftp://x/">',
      [],
    ],
    ['<a href="http://[bad">', []],
    ['<a href="http://user:secret@shop.example/">', []],
    ['<!-- <a href="/a"> --><a href="/b">', ['http://shop.example/b']],
    ['<!--><a href="/a">', ['http://shop.example/a']],
    ['<!-- x --!><a href="/a">', ['http://shop.example/a']],
    ['<script>"<a href=/a>"</script><style><a href=/b></style><textarea><a href=/c></textarea>', []],
    ['<title><a href=/a></title><xmp><a href=/b></xmp><noembed><a href=/c></noembed>', []],
    ['<noscript><a href="/a"></noscript>', ['http://shop.example/a']],
    ['<iframe src="/f"><a href="/a"></iframe>', ['http://shop.example/f']],
    [
      '<svg><a xlink:href="/a"/><title>x</title><style><a href="/b"></style></svg>',
      ['/a', '/b'].map((p) => `http://shop.example${p}`),
    ],
    ['<svg><p><script>"<a href=/a>"</script>', []],
    ['<plaintext><a href="/a">', []],
    ['<a href="/a', []],
    ['<meta http-equiv="Refresh" content="0; URL=\'/a\'">', ['http://shop.example/a']],
    ['<meta http-equiv="refresh" content="5;/a">', ['http://shop.example/a']],
    ['<meta http-equiv="refresh" content="30">', []],
    ['<a href="/\u4e2d">', ['http://shop.example/%E4%B8%AD']],
  ])('of %s', (html, expected) => {
    expect(links(html)).toEqual(expected)
  })

  test.each([
    ['<base href="/other/"><a href="a">', 'http://shop.example/other/a'],
    ['<a href="a"><base href="http://cdn.example/x/y">', 'http://cdn.example/x/a'],
    ['<base target=_blank><base href="/1/"><base href="/2/"><a href="a">', 'http://shop.example/1/a'],
    ['<!-- <base href="/other/"> --><a href="a">', 'http://shop.example/docs/a'],
    ['<script>"<base href=/other/>"</script><a href="a">', 'http://shop.example/docs/a'],
    ['<base href="http://[bad"><base href="/2/"><a href="a">', 'http://shop.example/docs/a'],
    ['<base href="javascript:x"><a href="a">', 'http://shop.example/docs/a'],
    ['<base href=" /other/ "><a href="a">', 'http://shop.example/other/a'],
    ['<base href=""><a href="a">', 'http://shop.example/docs/a'],
  ])('are resolved against the base of %s', (html, expected) => {
    expect(links(html)).toEqual([expected])
  })

  test('with rel=nofollow are left out, unless the spider ignores robots', () => {
    const html =
      '<a rel="nofollow" href="/a"><a rel="noopener,NOFOLLOW" href="/b"><a rel="nofollower" href="/c">'
    expect(links(html)).toEqual(['http://shop.example/c'])
    expect(readPage(html, url, careless).links).toHaveLength(3)
  })

  test.each([
    ['<meta name="robots" content="noindex, NOFOLLOW">', true],
    ['<META NAME="Robots" CONTENT="None">', true],
    ['<meta name="robots" content="index,follow">', false],
    ['<!-- <meta name="robots" content="nofollow"> -->', false],
    ['<meta name="description" content="nofollow">', false],
  ])('%s: none of the page’s links are to be followed: %s', (html, expected) => {
    expect(read(html).nofollow).toBe(expected)
  })
})

describe('head', () => {
  test('title, description, canonical URL and language, white space collapsed', () => {
    const page = read(`<html lang=" zh-CN "><title> Red &amp;
      blue\u00a0shoes </title><title>Second</title>
      <meta name="Description" content=" All\n shoes "><meta name=description content=second>
      <link rel="Canonical" href="../shoes/"><link rel=canonical href=/second>`)
    expect(page).toMatchObject({
      title: 'Red & blue shoes',
      description: 'All shoes',
      canonical: 'http://shop.example/shoes/',
      language: 'zh-CN',
    })
  })

  test('what is missing or blank is null', () => {
    const page = read(
      '<title> </title><meta name=description content=" "><link rel=canonical href="javascript:x"><p>',
    )
    expect(page).toMatchObject({ title: null, description: null, canonical: null, language: null })
  })

  test('a title in an SVG picture is not the page’s', () => {
    expect(read('<svg><title>Icon</title></svg><title>Page</title>').title).toBe('Page')
  })

  test('a page that names itself as canonical gives its own canonical form', () => {
    const page = readPage(
      '<link rel=canonical href="HTTP://Shop.Example:80/%7ea#x">',
      'http://shop.example/~a',
      spider,
    )
    expect(page.canonical).toBe('http://shop.example/~a')
  })

  test('titles are cut between characters, and hold no NUL and no half character', () => {
    const title = read(`<title>${'😀'.repeat(1500)}</title>`).title!
    expect([...title]).toHaveLength(1000)
    expect(read('<title>a\0b\ud800c</title>').title).toBe('ab\uFFFDc')
  })

  test('the language may come from a meta element', () => {
    expect(read('<meta http-equiv="Content-Language" content="de">').language).toBe('de')
  })
})

test('without item rules a page gives one item: its head and how many links stay on the host', () => {
  const { items } = read(
    '<title>T</title><a href="/a"><a href="/b"><a href="http://shop.example:81/"><a href="//x.example">',
  )
  const data = {
    title: 'T',
    description: null,
    canonical: null,
    language: null,
    linksInternal: 2,
    linksExternal: 2,
  }
  expect(items).toEqual([{ name: 'page', data }])
})

describe('a hostile page costs little and breaks nothing', () => {
  const extracting = compileSpider(
    spiderSchema.parse({
      name: 's',
      items: [
        {
          name: 'all',
          fields: {
            text: { list: true, css: 'div p' },
            html: { type: 'html' },
            first: { css: 'p:nth-child(2n+1)' },
          },
        },
      ],
    }),
  )
  /** Milliseconds of processor time: what else the machine does is not the page's doing. */
  const timed = (html: string) => {
    const before = process.cpuUsage()
    const page = readPage(html, url, extracting)
    return { page, ms: process.cpuUsage(before).user / 1000 }
  }

  test('50,000 nested elements, in less than a second', () => {
    const { page, ms } = timed(
      `<div>${'<div>'.repeat(50_000)}<p>deep<a href="/deep">${'</div>'.repeat(50_000)}<p>after`,
    )
    expect(page.links).toEqual(['http://shop.example/deep'])
    expect(page.items[0]?.data.text).toEqual(['deep', 'after'])
    expect(ms).toBeLessThan(1000)
  })

  test('3 million unclosed elements: the tree is cut, the links are not', () => {
    const { page, ms } = timed(`${'<b>'.repeat(3_000_000)}<a href="/deep">`)
    expect(page.links).toEqual(['http://shop.example/deep'])
    expect(page.cut).toBe(true)
    expect(ms).toBeLessThan(10_000)
  })

  test('a million links: the first 100,000 are taken, and the page says it was cut', () => {
    const { page, ms } = timed(Array.from({ length: 1_000_000 }, (_, n) => `<a href="/p/${n}">`).join(''))
    expect(page.links).toHaveLength(MAX_LINKS)
    expect(page.links.at(-1)).toBe('http://shop.example/p/99999')
    expect(page.cut).toBe(true)
    expect(ms).toBeLessThan(5000)
  })

  test('hundreds of thousands of links that lead nowhere are not all looked at', () => {
    const { page } = timed(Array.from({ length: 300_000 }, (_, n) => `<a href="http://[${n}">`).join(''))
    expect(page.links).toEqual([])
    expect(page.cut).toBe(true)
  })

  test('a million links to one page are one link', () => {
    const { page } = timed(Array.from({ length: 1_000_000 }, (_, n) => `<a href="/p#${n}">`).join(''))
    expect(page.links).toEqual(['http://shop.example/p'])
    expect(page.cut).toBe(true)
  })

  const scraps = [
    '<',
    '>',
    '</',
    '/>',
    '<!--',
    '-->',
    '<![CDATA[',
    ']]>',
    '<?',
    '"',
    "'",
    '=',
    '&',
    '&amp;',
    '&#0;',
    '&#x110000;',
  ]
  const tags = [
    'a',
    'base',
    'p',
    'li',
    'td',
    'table',
    'svg',
    'math',
    'title',
    'script',
    'template',
    'plaintext',
    'foreignobject',
    'br',
  ]
  const piece = fc.oneof(
    fc.constantFrom(...scraps),
    fc.constantFrom(
      ...tags.flatMap((tag) => [
        `<${tag}>`,
        `</${tag}>`,
        `<${tag}/>`,
        `<${tag} href="`,
        `<${tag} lang=x href=y>`,
      ]),
    ),
    fc.constantFrom(
      '<meta http-equiv=refresh content="0;url=',
      '<link rel=next href=',
      '\0',
      '\ud800',
      'http://',
      '__proto__=1 ',
    ),
    fc.string({ maxLength: 5, unit: 'binary' }),
  )

  test('no broken HTML makes it throw, and all it gives can be stored', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const page = readPage(pieces.join(''), url, extracting)
        readPage(pieces.join(''), url, spider)
        expect(/\0|\p{Surrogate}/u.test(JSON.stringify(page).replaceAll('\\u0000', '\0'))).toBe(false)
        for (const link of page.links) expect(link).toMatch(/^https?:\/\/[\x21-\x7e]+$/)
      }),
      { numRuns: 2000 },
    )
  })
})
