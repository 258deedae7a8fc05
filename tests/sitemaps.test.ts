import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, expect, test } from 'vitest'
import { spiderSchema } from '../core/spider'
import { auditRun } from '../server/services/audit-run'
import { createRun } from '../server/services/runs'
import { saveSpider } from '../server/services/spiders'
import { type CrawlRig, openRig } from './crawl-rig'

let rig: CrawlRig | undefined
let site: Server | undefined
afterEach(async () => {
  await rig?.close()
  site?.closeAllConnections()
  site?.close()
})

/** Its pages are linked from nowhere; only sitemaps know them. */
async function hiddenSite(): Promise<string> {
  const loc = (path: string) => `<loc>${origin}${path}</loc>`
  const answers: Record<string, () => [type: string, body: string | Buffer]> = {
    '/': () => ['text/html', '<p>no links</p>'],
    '/robots.txt': () => ['text/plain', `User-agent: *\nDisallow: /private\nSitemap: ${origin}/index.xml`],
    '/index.xml': () => [
      'text/html',
      `<sitemapindex><sitemap>${loc('/a.xml.gz')}</sitemap><sitemap>${loc('/feed')}</sitemap></sitemapindex>`,
    ],
    '/a.xml.gz': () => [
      'application/octet-stream',
      gzipSync(
        `<urlset><url>${loc('/one')}</url><url>${loc('/private')}</url><url><loc>http://elsewhere.example/</loc></url></urlset>`,
      ),
    ],
    '/feed': () => [
      'application/rss+xml',
      `<rss><channel><item><link>${origin}/two</link></item></channel></rss>`,
    ],
    '/one': () => ['text/html', '<a href="/deeper">'],
    '/two': () => ['text/html', 'two'],
    '/deeper': () => ['text/html', 'deeper'],
  }
  site = createServer((request, response) => {
    const [type, body] = answers[request.url!]?.() ?? ['text/plain', '']
    response.writeHead(answers[request.url!] ? 200 : 404, { 'content-type': type }).end(body)
  })
  await new Promise<void>((resolve) => site!.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
  return origin
}

test.each(['auto', 'named'] as const)(
  'pages that only sitemaps know (%s) are crawled like any other, and each is accounted for',
  async (how) => {
    const origin = await hiddenSite()
    rig = await openRig()
    rig.workers(1)
    const definition = spiderSchema.parse({
      name: 'maps',
      allowPrivate: true,
      seeds: how === 'auto' ? [`${origin}/`] : [],
      sitemaps: how === 'auto' ? 'auto' : [`${origin}/index.xml`],
      // What sitemaps list counts as seeds do, so nothing beyond it is followed.
      follow: { depth: 0 },
    })
    const spider = await saveSpider(rig.services, definition, 'test')
    const { id } = await createRun(rig.services, { spider: spider.id, queue: rig.queue, trigger: 'manual' })
    await rig.ended(id)
    const stored = [...(await rig.stored(id))].map(([url, state]) => `${url.slice(origin.length)} ${state}`)
    const home = how === 'auto' ? ['/ done'] : []
    expect(stored.sort()).toEqual([
      ...home,
      '/a.xml.gz done',
      '/feed done',
      '/index.xml done',
      '/one done',
      '/private ignored',
      '/two done',
    ])
    expect((await auditRun(rig.services, id)).checks.filter((check) => !check.ok)).toEqual([])
  },
  120_000,
)
