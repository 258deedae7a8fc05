import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { childEnv } from '../core/env'
import { answer, type OracleServer, oracleServer } from '../worker/fetch/oracle-server'

/** The probes as a person runs them, with no servers in the environment. */
async function orbweaver(
  args: string[],
  lines?: (object | string)[],
): Promise<{ answers: object[]; code: number }> {
  const child = spawn(process.execPath, ['cli/start.mjs', ...args], {
    env: childEnv({ REDIS_URL: '', DATABASE_URL: '', REDIS_HOST: '', MYSQL_HOST: '' }),
  })
  child.stdin.end(lines?.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'))
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
  return {
    answers: output
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as object),
    code: code as number,
  }
}

let site: OracleServer
beforeAll(async () => {
  site = await oracleServer((socket, head) => {
    if (head.startsWith('GET /robots.txt')) socket.write(answer('User-agent: *\nDisallow: /no'))
    else if (head.startsWith('GET /old')) socket.write(answer('', { Location: '/new' }, 301))
    else if (head.startsWith('GET /bad')) socket.end('nonsense')
    else socket.write(answer(Buffer.from('c4e3', 'hex'), { 'Content-Type': 'text/html; charset=gbk' }))
  })
})
afterAll(() => site.close())

test('each line of input has one line of answer, in order, and what cannot be answered has an error and no stack', async () => {
  const { answers, code } = await orbweaver(
    ['url'],
    [
      { url: ' ../b\n?x#y', base: 'http://H.example/a/' },
      'http://h.example/%7e?utm_source=1',
      'not JSON at all',
      '{"nothing": 1}',
      '"mailto:a@b.example"',
      { url: 'http://h.example/?b&a&utm_x', drop: ['utm_*'], sortQuery: true, expected: 'passed over' },
      { url: 'nowhere' },
    ].map((line) => (line === 'http://h.example/%7e?utm_source=1' ? JSON.stringify(line) : line)),
  )
  expect(code).toBe(0)
  expect(answers).toMatchObject([
    { resolved: 'http://h.example/b?x#y', fetched: 'http://h.example/b?x', host: 'h.example' },
    { fetched: 'http://h.example/%7e?utm_source=1', canonical: 'http://h.example/~?utm_source=1' },
    { error: expect.stringContaining('not JSON') },
    { error: expect.stringContaining('url') },
    { resolved: 'mailto:a@b.example', fetched: null, canonical: null, key: null },
    { canonical: 'http://h.example/?a&b', fetched: 'http://h.example/?b&a&utm_x' },
    { error: expect.stringMatching(/^[^\n]*$/) },
  ])
})

test('robots tells the verdict, the line that decided, the delay and the sitemaps', async () => {
  const text =
    '\ufeffUser-agent: a\nUser-agent: WeaverBot\r\nDisallow: /p\rAllow: /p/q$\nCrawl-delay: 2.5\nSitemap: https://h.example/s.xml'
  const ask = (path: string, more = {}) => ({
    text,
    agent: 'weaverbot/1',
    url: `https://h.example${path}`,
    ...more,
  })
  const { answers } = await orbweaver(
    ['robots'],
    [ask('/p/q'), ask('/p/qr'), ask('/x', { status: 503 }), ask('/p', { status: 404 })],
  )
  expect(answers).toMatchObject([
    {
      allowed: true,
      line: 4,
      rule: 'Allow: /p/q$',
      group: 'weaverbot',
      crawlDelay: 2.5,
      sitemaps: ['https://h.example/s.xml'],
    },
    { allowed: false, line: 3, rule: 'Disallow: /p' },
    { allowed: false, unreachable: true },
    { allowed: true, line: null },
  ])
})

test('sitemap, decode and extract read bytes given in the line', async () => {
  const urlset =
    '<urlset><url><loc><![CDATA[http://h.example/a?b&c]]></loc><lastmod>2026-01-02</lastmod></url></urlset>'
  const [sitemap, decode, extract] = await Promise.all([
    orbweaver(['sitemap'], [{ base64: gzipSync(urlset).toString('base64') }]),
    orbweaver(
      ['decode'],
      [{ base64: 'xOM=', contentType: 'text/html; charset=gb2312' }, { text: '%PDF-1.4' }],
    ),
    orbweaver(
      ['extract'],
      [
        {
          text: '<base href="/b/"><a href=" c&amp;d ">x</a><h1>T</h1>',
          url: 'http://h.example/',
          spider: { name: 's', items: [{ name: 'page', fields: { title: { css: 'h1' } } }] },
        },
        { text: '', spider: { name: 's', colour: 'red' } },
      ],
    ),
  ])
  const [coded] = (
    await orbweaver(
      ['extract'],
      [
        {
          text: '<h1>Sencha</h1><b class="price">£4.50</b>',
          url: 'http://tea.example/products/sencha',
          spider: 'examples/spiders/tea.ts',
        },
      ],
    )
  ).answers
  expect(coded).toMatchObject({
    items: [{ name: 'product', data: { name: 'Sencha', price: 4.5 } }],
    requests: [],
  })
  expect(sitemap.answers).toMatchObject([
    { kind: 'urlset', entries: [{ url: 'http://h.example/a?b&c', lastmod: '2026-01-02' }] },
  ])
  expect(decode.answers).toMatchObject([{ charset: 'gbk', source: 'header', text: '你' }, { type: 'binary' }])
  expect(extract.answers).toMatchObject([
    { links: ['http://h.example/b/c&d'], items: [{ name: 'page', data: { title: 'T' } }] },
    { error: expect.stringContaining('colour') },
  ])
})

test('fetch tells redirects, charset, robots and outcome; its answer to a failure is an outcome, not an error', async () => {
  const { answers } = await orbweaver(
    ['fetch'],
    [
      { url: `${site.origin}/old`, allowPrivate: true, text: true },
      { url: `${site.origin}/no`, allowPrivate: true },
      { url: `${site.origin}/bad`, allowPrivate: true },
      { url: `${site.origin}/` },
    ],
  )
  expect(answers).toMatchObject([
    {
      finalUrl: `${site.origin}/new`,
      redirects: [`${site.origin}/old`],
      charset: 'gbk',
      text: '你',
      outcome: { state: 'done' },
    },
    { robots: { allowed: false, line: 2 }, outcome: { state: 'ignored', reason: 'robots' } },
    { outcome: { reason: 'malformed_http' } },
    { outcome: { state: 'ignored', reason: 'private_address' } },
  ])
})
