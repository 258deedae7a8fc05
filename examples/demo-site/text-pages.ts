import { PRODUCTS, spread } from './goods'
import { Page, type Resource, type Site } from './resource'

// biome-ignore format: one list
const TOPICS = [
  'Water', 'Cups', 'Frost', 'Steam', 'Firing', 'Withering', 'Caddies', 'Harvest', 'Terraces', 'Shade', 'Rain', 'Roads',
  'Kettles', 'Auctions', 'Blending', 'Tasting', 'Scales', 'Bamboo', 'Smoke', 'Bark', 'Clay', 'Glaze', 'Gardens', 'Letters',
]
// biome-ignore format: one list
const CHINESE = [
  '龙井', '碧螺春', '黄山毛峰', '安吉白茶', '信阳毛尖', '六安瓜片', '太平猴魁', '祁门红茶', '正山小种', '滇红',
  '铁观音', '大红袍', '凤凰单丛', '冻顶乌龙', '东方美人', '白毫银针', '白牡丹', '普洱生茶', '普洱熟茶', '茉莉花茶',
]
const PROSE =
  'The hill is steep enough that the pickers walk it sideways, and the path is mended every spring after the rain. '

/** The journal (partly compressed), pages in Chinese in three encodings, the calendar of tastings, plain pages. */
export function* textPages(site: Site): Generator<Resource> {
  yield* journal(site)
  yield* chinese(site)
  yield* calendar(site)
  yield plain(site, '/about', 'About us')
  yield plain(site, '/help/', 'Help')
  for (const topic of ['shipping', 'returns', 'brewing'])
    yield plain(site, `/help/${topic}`, `Help: ${topic}`)
}

function* journal(site: Site): Generator<Resource> {
  const index = new Page(site, '/journal/')
  // Relative links without a leading slash: they stand or fall with the directory of the page.
  const entries = TOPICS.map((topic) => `<li>${index.a(topic.toLowerCase(), `On ${topic}`)}</li>`)
  yield index.html({ title: 'Journal', main: `<h1>Journal</h1><ul>${entries.join('')}</ul>` })
  for (const [n, topic] of TOPICS.entries()) {
    const page = new Page(site, `/journal/${topic.toLowerCase()}`)
    const published = `2026-${String((n % 12) + 1).padStart(2, '0')}-${String(n + 1).padStart(2, '0')}`
    const next = TOPICS[(n + 1) % TOPICS.length]!
    const product = PRODUCTS[spread(topic, PRODUCTS.length)]!
    page.items.push({ name: 'article', data: { title: `On ${topic}`, author: 'Ines Marlow', published } })
    yield page.html(
      {
        title: `On ${topic}`,
        main: `<article class="post"><h1>On ${topic}</h1><p>By <span class="author">Ines Marlow</span>, <time datetime="${published}">${published}</time></p>${`<p>${PROSE.repeat(8)}</p>`.repeat(6)}</article><p>${page.a(`./${next.toLowerCase()}`, `Next: ${next}`)} · ${page.a(`../products/${product.slug}#reviews`, product.name)}</p>`,
      },
      n % 3 === 0 ? { compress: 'gzip' } : n % 3 === 1 ? { compress: 'br' } : {},
    )
  }
}

function* chinese(site: Site): Generator<Resource> {
  const index = new Page(site, '/zh/')
  const address = (n: number) =>
    n < 10 ? `/zh/茶/${CHINESE[n]}` : n < 19 ? `/zh/gbk/${n - 9}` : '/zh/big5/1'
  const entries = CHINESE.map((name, n) => `<li>${index.a(address(n), name)}</li>`)
  yield index.html({
    title: '茶叶',
    language: 'zh-CN',
    main: `<h1>中国名茶</h1><ul>${entries.join('')}</ul>`,
  })
  for (const [n, name] of CHINESE.entries()) {
    const page = new Page(site, address(n))
    const charset = n < 10 ? 'utf-8' : n < 19 ? 'gbk' : 'big5'
    const title = charset === 'big5' ? '茉莉香片' : name
    const published = `2026-05-${String(n + 1).padStart(2, '0')}`
    page.items.push({
      name: 'article',
      data: { title, author: charset === 'big5' ? '林美玉' : '陈雨', published },
    })
    yield page.html(
      {
        title,
        language: charset === 'big5' ? 'zh-TW' : 'zh-CN',
        description: title,
        main: `<article class="post"><h1>${title}</h1><p><span class="author">${charset === 'big5' ? '林美玉' : '陈雨'}</span> <time datetime="${published}">${published}</time></p>${`<p>${charset === 'big5' ? '香氣清雅,滋味鮮爽,回味甘甜。' : '香气清雅,滋味鲜爽,回味甘甜。'.repeat(20)}</p>`.repeat(5)}</article><p>${page.a(address((n + 1) % CHINESE.length), charset === 'big5' ? '下一頁' : '下一篇')}</p>`,
      },
      // Not a word of the encoding in the header: it stands in the page's meta element only.
      charset === 'utf-8' ? {} : { charset, type: 'text/html' },
    )
  }
}

/** Twelve months that link to their neighbours and end: a calendar as it should be. */
function* calendar(site: Site): Generator<Resource> {
  const address = (month: number) => `/calendar/2026-${String(month).padStart(2, '0')}`
  for (let month = 1; month <= 12; month++) {
    const page = new Page(site, address(month))
    const near = [month - 1, month + 1].filter((m) => m >= 1 && m <= 12)
    const days = Array.from({ length: 4 }, (_, week) => {
      const product = PRODUCTS[spread(`${month} ${week}`, PRODUCTS.length)]!
      return `<tr><td>${1 + week * 7}</td><td>${page.a(`/products/${product.slug}`, `Tasting: ${product.name}`)}</td></tr>`
    })
    yield page.html({
      title: `Tastings, month ${month}`,
      main: `<h1>Tastings in month ${month} of 2026</h1><table>${days.join('')}</table><p>${near.map((m) => page.a(address(m), `Month ${m}`)).join(' · ')}</p>`,
    })
  }
}

function plain(site: Site, path: string, title: string): Resource {
  const page = new Page(site, path)
  return page.html({ title, main: `<h1>${title}</h1>${`<p>${PROSE.repeat(5)}</p>`.repeat(3)}` })
}
