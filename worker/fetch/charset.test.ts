import iconv from 'iconv-lite'
import { expect, it } from 'vitest'
import { decodeHtml } from './charset'

const hex = (bytes: string) => Buffer.from(bytes.replaceAll(' ', ''), 'hex')
const html = 'text/html'

it.each([
  ['utf-8', 'e4 bd a0 c3 28 ed a0 80', '你\ufffd(\ufffd\ufffd\ufffd'],
  ['utf-16le', '60 4f 41 00', '你A'],
  ['utf-16be', '4f 60 00 41', '你A'],
  ['gbk', 'c4 e3 80 a2 e3 81 39 ef 30', '你€€㐁'],
  ['gb18030', 'c4 e3 a2 e3 94 39 da 33 84 31 82 36', '你€💩\ufe10'],
  ['big5', 'a7 41 87 40 88 62 a3 e1', '你䏰Ê̄€'],
  ['euc-kr', 'b0 a1 81 41', '가갂'],
  ['shift_jis', '82 a0 80 5c 7e b1 87 40 fa 40', 'あ\x80\\~ｱ①ⅰ'],
  ['euc-jp', 'a4 a2 8e b1 8f b0 a1 ad a1', 'あｱ丂①'],
  ['iso-2022-jp', '1b 24 42 24 22 1b 28 42 41', 'あA'],
  ['windows-1252', '80 81 93 94 e9 ff', '€\x81“”éÿ'],
  ['windows-1251', 'cf f0 e8', 'При'],
  ['koi8-r', 'f0 d2', 'Пр'],
  ['koi8-u', 'ae be', 'ўЎ'],
  ['iso-8859-2', 'b1', 'ą'],
  ['iso-8859-16', 'a4', '€'],
  ['macintosh', 'db', '€'],
  ['windows-874', 'a1', 'ก'],
  ['x-user-defined', '41 80 ff', 'A\uf780\uf7ff'],
])('%s is decoded by the standard’s table', (charset, bytes, text) => {
  expect(decodeHtml(hex(bytes), `${html}; charset=${charset}`)).toMatchObject({ text, charset })
})

it.each([
  ['big5', '81 22 41'],
  ['gbk', '81 22 41'],
  ['euc-kr', '81 22 41'],
  ['shift_jis', '81 22 41'],
  ['euc-jp', '8f 22 41'],
])('in %s a lead byte swallows no quote', (charset, bytes) => {
  expect(decodeHtml(hex(bytes), `${html}; charset=${charset}`).text.slice(-2)).toBe('"A')
})

it.each([
  ['gb2312', 'gbk'],
  ['GB_2312-80', 'gbk'],
  ['cp936', 'gbk'],
  ['ms936', 'gbk'],
  ['x-gbk', 'gbk'],
  ['x-sjis', 'shift_jis'],
  ['windows-31j', 'shift_jis'],
  ['ISO-8859-1', 'windows-1252'],
  ['latin1', 'windows-1252'],
  ['us-ascii', 'windows-1252'],
  ['ks_c_5601-1987', 'euc-kr'],
  ['big5-hkscs', 'big5'],
  ['UTF8', 'utf-8'],
  ['"gbk"', 'gbk'],
  ["'gbk'", 'gbk'],
  [' gbk ; x=y', 'gbk'],
  ['utf-7', 'replacement'],
  ['hz-gb-2312', 'replacement'],
  ['iso-2022-kr', 'replacement'],
])('the label %s means %s', (label, charset) => {
  expect(decodeHtml(Buffer.from('x'), `${html};charset=${label}`).charset).toBe(charset)
})

it.each(['text/html charset=gbk', 'text/html;charset = gbk', 'text/html; x=y; CHARSET="gbk"'])(
  'the header %s says gbk',
  (header) => {
    expect(decodeHtml(Buffer.from('x'), header).charset).toBe('gbk')
  },
)

it('encodings that hide markup are not decoded at all', () => {
  expect(decodeHtml(Buffer.from('+ADw-script+AD4-'), `${html};charset=utf-7`).text).toBe('\ufffd')
})

it('a byte order mark goes before the header, the header before the page, and a label that means nothing is passed over', () => {
  const meta = Buffer.from('<meta charset=big5>')
  expect(decodeHtml(Buffer.concat([hex('efbbbf'), meta]), `${html};charset=gbk`)).toEqual({
    text: meta.toString(),
    charset: 'utf-8',
    source: 'bom',
  })
  expect(decodeHtml(hex('fffe604f'), `${html};charset=gbk`)).toMatchObject({
    text: '你',
    charset: 'utf-16le',
  })
  expect(decodeHtml(hex('feff4f60'), null)).toMatchObject({ text: '你', charset: 'utf-16be' })
  expect(decodeHtml(meta, `${html};charset=gbk`).charset).toBe('gbk')
  expect(decodeHtml(meta, `${html};charset=none`).charset).toBe('big5')
  expect(decodeHtml(meta, html).charset).toBe('big5')
})

it.each([
  ['<meta charset=gbk>', 'gbk'],
  ['<META CharSet = "GBK" />', 'gbk'],
  ["<meta/charset='gbk'/>", 'gbk'],
  ['<meta http-equiv="Content-Type" content="text/html; charset=gbk">', 'gbk'],
  ['<meta content="text/html; charset=gbk" http-equiv=content-type>', 'gbk'],
  ['<meta httpequiv="ContentType" content="text/html; charset=gbk">', 'gbk'],
  ['<meta http-equiv="refresh" content="text/html; charset=gbk">', 'utf-8'],
  ['<meta name="description" content="charset=gbk">', 'utf-8'],
  ['<!-- <meta charset=gbk> --><meta charset=big5>', 'big5'],
  ['<!--><meta charset=gbk>', 'gbk'],
  ['<!-- <meta charset=gbk>', 'utf-8'],
  ['<a title="<meta charset=gbk>"><meta charset=big5>', 'big5'],
  ['<meta charset=nonsense><meta charset=gbk>', 'gbk'],
  ['<meta charset=utf-16>', 'utf-8'],
  ['<meta charset=x-user-defined>', 'windows-1252'],
  ['<?xml version="1.0" encoding="gbk"?><html>', 'gbk'],
  ['<?xml version="1.0" encoding="gbk"?><meta charset=big5>', 'big5'],
  [`<script>${'x'.repeat(2000)}</script><meta charset=gbk>`, 'gbk'],
  ['<meta charset', 'utf-8'],
  ['<', 'utf-8'],
  ['', 'utf-8'],
])('the page %s declares %s', (page, charset) => {
  expect(decodeHtml(Buffer.from(page), html).charset).toBe(charset)
})

const SAMPLES: [string, string][] = [
  ['utf-8', '网络爬虫按照一定的规则，自动地抓取万维网信息。'],
  [
    'gb18030',
    '网络爬虫是一种按照一定的规则，自动地抓取万维网信息的程序或者脚本，另外一些不常使用的名字还有蚂蚁、自动索引。',
  ],
  [
    'big5',
    '網路爬蟲是一種用來自動瀏覽全球資訊網的網路機器人，其目的一般為編纂網路索引。網路搜尋引擎等站點通過爬蟲軟體更新自身的網站內容。',
  ],
  [
    'shift_jis',
    'クローラとは、ウェブ上の文書や画像などを周期的に取得し、自動的にデータベース化するプログラムである。',
  ],
  [
    'euc-jp',
    'クローラとは、ウェブ上の文書や画像などを周期的に取得し、自動的にデータベース化するプログラムである。',
  ],
  [
    'euc-kr',
    '웹 크롤러는 조직적, 자동화된 방법으로 월드 와이드 웹을 탐색하는 컴퓨터 프로그램이다. 웹 크롤러가 하는 작업을 웹 크롤링이라 부른다.',
  ],
  [
    'windows-1251',
    'Поисковый робот — программа, являющаяся составной частью поисковой системы и предназначенная для перебора страниц Интернета.',
  ],
  [
    'windows-1252',
    'Un robot d’indexation est un logiciel qui explore automatiquement le Web. Il est généralement conçu pour collecter les ressources, à l’été comme à Noël.',
  ],
]
it.each(SAMPLES)('a page in %s that says nothing is recognised by its bytes', (charset, sentence) => {
  const page = `<html><head><title>${sentence}</title><script>var a = 1</script></head><body>${'<div class="c"><p>'.repeat(40)}${sentence}</p></body></html>`
  expect(decodeHtml(iconv.encode(page, charset), html)).toMatchObject({
    text: page,
    charset,
    source: 'bytes',
  })
})

it('UTF-8 that was cut within a character is still UTF-8', () => {
  const page = Buffer.from('<p>网络爬虫</p>网络')
  expect(decodeHtml(page.subarray(0, page.length - 1), html).charset).toBe('utf-8')
})

it('a long page of any bytes takes little time', () => {
  const noise = Buffer.alloc(5_000_000, '<meta a="\xe9\xff< ', 'latin1')
  const started = performance.now()
  decodeHtml(noise, html)
  expect(performance.now() - started).toBeLessThan(1500)
})
