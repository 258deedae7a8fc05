import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { readSitemap } from './read-sitemap'

const AT = 'https://h.example/maps/sitemap.xml'
const read = (body: string | Buffer, contentType: string | null = 'application/xml') =>
  readSitemap(Buffer.from(body), contentType, AT)
const urls = async (body: string | Buffer, contentType?: string | null) => {
  const { kind, entries, sitemaps } = await read(body, contentType)
  return [kind, ...entries.map(({ url }) => url), ...sitemaps.map(({ url }) => `map ${url}`)]
}
const loc = (inner: string) => `<urlset><url><loc>${inner}</loc></url></urlset>`
const A = 'https://h.example/a'

it.each<[string, string | Buffer, string[]]>([
  ['a urlset', loc(A), ['urlset', A]],
  ['gzip, whatever it is called', gzipSync(loc(A)), ['urlset', A]],
  ['gzip within gzip', gzipSync(gzipSync(loc(A))), ['urlset', A]],
  ['gzip with trailing garbage', Buffer.concat([gzipSync(loc(A)), Buffer.from('garbage')]), ['urlset', A]],
  ['gzip that is cut off', gzipSync(loc(A) + ' '.repeat(2000)).subarray(0, -12), ['urlset', A]],
  ['CDATA', loc('<![CDATA[https://h.example/?a&b]]>'), ['urlset', 'https://h.example/?a&b']],
  [
    'entities, once',
    loc('https://h.example/?a&amp;b&#x3D;&amp;amp;'),
    ['urlset', 'https://h.example/?a&b=&amp;'],
  ],
  ['blanks, line breaks and no-break spaces around', loc(`\n \u00a0${A}\u00a0\t`), ['urlset', A]],
  [
    'a byte order mark and blanks before the declaration',
    `\ufeff\n <?xml version="1.0"?>${loc(A)}`,
    ['urlset', A],
  ],
  ['UTF-16', Buffer.from(`\ufeff${loc(A)}`, 'utf16le'), ['urlset', A]],
  [
    'a namespace with a prefix',
    `<s:urlset xmlns:s="x"><s:url><s:loc>${A}</s:loc></s:url></s:urlset>`,
    ['urlset', A],
  ],
  ['names in upper case', `<URLSET><URL><LOC>${A}</LOC></URL></URLSET>`, ['urlset', A]],
  [
    'pictures and videos, which are no pages',
    `<urlset><url><loc>${A}</loc><image:image><image:loc>${A}.png</image:loc></image:image><video:video><video:player_loc>x</video:player_loc></video:video></url></urlset>`,
    ['urlset', A],
  ],
  [
    'a comment around an entry',
    `<urlset><!-- <url><loc>${A}/no</loc></url> --><url><loc>${A}</loc></url></urlset>`,
    ['urlset', A],
  ],
  [
    'what is listed twice',
    `<urlset><url><loc>${A}</loc></url><url><loc>${A}#x</loc></url></urlset>`,
    ['urlset', A],
  ],
  ['a relative URL', loc('../b'), ['urlset', 'https://h.example/b']],
  ['a file cut off', `<urlset><url><loc>${A}</loc></url><url><loc>https://h.ex`, ['urlset', A]],
  [
    'an index',
    `<sitemapindex><sitemap><loc>${A}.xml</loc></sitemap></sitemapindex>`,
    ['index', `map ${A}.xml`],
  ],
  [
    'RSS',
    `<rss><channel><link>${A}/c</link><item><link>${A}</link><guid>x</guid></item></channel></rss>`,
    ['feed', A],
  ],
  [
    'RSS with nothing but a permalink',
    `<rss><channel><item><guid>${A}</guid></item></channel></rss>`,
    ['feed', A],
  ],
  ['RSS 1.0', `<rdf:RDF><channel/><item><link>${A}</link></item></rdf:RDF>`, ['feed', A]],
  [
    'Atom',
    `<feed><link href="/self"/><entry><link rel="edit" href="/e"/><link href="${A}"/></entry></feed>`,
    ['feed', A],
  ],
  ['a list of URLs', `\ufeff${A}\r\n\r\n# note\n${A}/2\rnonsense`, ['text', A, `${A}/2`]],
  ['a page of HTML', `<!DOCTYPE html><html><a href="${A}">x</a>`, ['none']],
  ['plain text', 'there is no sitemap', ['none']],
  ['nothing', '', ['none']],
])('reads %s', async (_title, body, expected) => {
  expect(await urls(body)).toEqual(expected)
})

it('tells the date of a page as it stands there, and of none that is no date', async () => {
  const dates = ['2026-01-02', '2026-01-02T03:04:05+08:00', '2026', 'yesterday', '2026-13-45', '']
  const body = `<urlset>${dates.map((date, n) => `<url><loc>${A}${n}</loc><lastmod> ${date}\n</lastmod></url>`).join('')}</urlset>`
  expect((await read(body)).entries.map(({ lastmod }) => lastmod)).toEqual([
    ...dates.slice(0, 3),
    null,
    null,
    null,
  ])
})

it('counts what is no URL of the web', async () => {
  const body = `<urlset>${['javascript:x', '', 'http://', A].map((url) => `<url><loc>${url}</loc></url>`).join('')}</urlset>`
  expect(await read(body)).toMatchObject({ refused: 3, entries: [{ url: A }], cut: false })
})

it('takes 50,000 pages and says that there were more', async () => {
  const many = Array.from({ length: 50_001 }, (_, n) => `<url><loc>${A}/${n}</loc></url>`)
  const found = await read(`<urlset>${many.join('')}</urlset>`)
  expect([found.entries.length, found.cut]).toEqual([50_000, true])
  expect((await read(`<urlset>${many.slice(1).join('')}</urlset>`)).cut).toBe(false)
})

it('stops at 50 MiB of what a small file unpacks to', async () => {
  const found = await read(
    gzipSync(Buffer.concat([Buffer.from(loc(A)), Buffer.alloc(60 * 1024 * 1024, ' ')])),
  )
  expect([found.entries.length, found.cut]).toEqual([1, true])
})

it('expands no entity that the file defines', async () => {
  const bomb = `<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>${loc('https://h.example/&b;')}`
  expect((await read(bomb)).entries.length).toBeLessThan(2)
})
