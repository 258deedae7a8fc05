import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startWorkers, type WorkerPool } from '../cli/worker-pool'
import { listCredentials } from '../server/services/credentials'
import { getSpider, saveSpider } from '../server/services/spiders'
import { consoleRig } from './console-rig'

const lamps = (name: string) => ({
  name,
  allowPrivate: true,
  items: [{ name: 'lamp', fields: { title: { css: 'h1' } } }],
})

/** A page behind a redirect, and what was asked of it. */
async function lampShop() {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(request.url!)
    if (request.url === '/robots.txt') response.end('User-agent: *\nDisallow: /cellar\n')
    else if (request.url === '/stock.json')
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end('{"lamps":[{"name":"Floor lamp"},{"name":"Night light"}]}')
    else if (request.url === '/moved') response.writeHead(302, { location: '/lamp' }).end()
    else
      response
        .writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
        .end(
          '<title>Lamps</title><h1>Desk lamp</h1><p>It shines on your desk and nowhere else.</p><b class="price">12.50</b>' +
            '<p><a href="/more">More lamps</a> <a href="/cellar">Cellar</a> <a rel="nofollow" href="/cart">Cart</a> <a href="https://elsewhere.example/">Elsewhere</a></p>',
        )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { server, requests, address: `http://127.0.0.1:${port}` }
}

describe('the pages of spiders', { timeout: 240_000 }, () => {
  const rig = consoleRig()
  let folder: string
  let shop: Awaited<ReturnType<typeof lampShop>>
  let workers: WorkerPool | undefined

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'orbweaver-spiders-'))
    await mkdir(join(folder, 'logs'))
    shop = await lampShop()
  })
  afterAll(async () => {
    await workers?.stop()
    shop.server.close()
    await rm(folder, { recursive: true, force: true })
  })

  async function startWorker(): Promise<void> {
    if (workers) return
    workers = startWorkers({ count: 1, queue: rig.queue, stateDir: folder })
    await vi.waitFor(
      async () => {
        const [rows] = await rig.services.database.pool.query(
          "SELECT id FROM workers WHERE state = 'running'",
        )
        expect(rows).toHaveLength(1)
      },
      { timeout: 20_000, interval: 100 },
    )
  }

  test('a spider is made in the form, its faults told while it is typed, and a run of it started', async () => {
    const { page, services } = rig
    await rig.enter(page, '/spiders')
    await page.getByRole('link', { name: 'New spider' }).click()
    await page.getByLabel('Name', { exact: true }).fill('shop')
    await page.getByLabel('Addresses to begin with').fill('https://shop.test/\nhttps://shop.test/sale')
    await page.getByLabel('the same site, subdomains included').check()
    await page.getByLabel('Never addresses that match').fill('(')
    await page
      .getByText(/follow\.deny\[0\] "\(" is not an RE2 pattern/)
      .first()
      .waitFor()
    expect(await page.getByRole('button', { name: 'Create the spider' }).isDisabled()).toBe(true)
    await page.getByLabel('Never addresses that match').fill('[?&]sort=')
    await page.getByRole('switch', { name: 'Take items of my own' }).press('Space')
    await page.getByRole('textbox', { name: 'CSS selector' }).fill('h1[')
    await page
      .getByText(/items\[0\]\.fields\.title\.css/)
      .first()
      .waitFor()
    await page.getByRole('textbox', { name: 'CSS selector' }).fill('h1')
    await page.getByRole('button', { name: 'Add a field' }).click()
    const second = page
      .getByRole('row')
      .filter({ has: page.getByRole('combobox', { name: 'Source' }) })
      .nth(1)
    await second.getByRole('textbox', { name: 'Field' }).fill('price')
    await second.getByRole('combobox', { name: 'Source' }).selectOption('JSONPath')
    await second.getByRole('textbox', { name: 'JSONPath' }).fill('price')
    await page
      .getByText(/fields\.price\.jsonpath "price" is not a JSONPath/)
      .first()
      .waitFor()
    await second.getByRole('combobox', { name: 'Source' }).selectOption('JSON-LD')
    await second.getByRole('textbox', { name: 'JSON-LD' }).fill('Product.offers.price')
    await second.getByRole('combobox', { name: 'Type' }).selectOption('Number')
    await page.getByLabel('In a Bloom filter').check()
    await rig.text(/Costs 18 MB of Redis’s memory for 10,000,000 addresses/)
    await page.getByLabel('only those that are due').check()
    await page.getByLabel('Next visit after').fill('12')
    await page.getByRole('button', { name: 'Create the spider' }).click()
    await page.waitForURL(`${rig.address}/spiders/shop`)
    expect((await getSpider(services, 'shop')).definition).toMatchObject({
      seeds: ['https://shop.test/', 'https://shop.test/sale'],
      follow: { scope: 'site', allow: [], deny: ['[?&]sort='], depth: null },
      dedupe: { kind: 'bloom', scope: 'run' },
      revisit: { mode: 'due', first: 43_200, min: 3_600 },
      items: [
        {
          name: 'item',
          fields: {
            title: { css: 'h1', type: 'text', list: false, required: false },
            price: { jsonLd: 'Product.offers.price', type: 'number' },
          },
        },
      ],
    })
    await page.getByRole('button', { name: 'Start a run of shop' }).click()
    await page.getByRole('heading', { name: /^Run \d+/ }).waitFor()
    await rig.text(/Spider shop on queue/)
  })

  test('what a spider was before is compared with now and restored as a version of its own', async () => {
    const { page, services } = rig
    await saveSpider(services, { name: 'changing', maxPages: 10 }, 'lin')
    const { id } = await saveSpider(services, { name: 'changing', maxPages: 20 }, 'wu')
    await rig.enter(page, '/spiders/changing')
    await page.getByLabel('Addresses a run takes in at most').fill('30')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await rig.text('Version 3.')
    await page.getByRole('tab', { name: 'Versions' }).click()
    await page.getByRole('button', { name: 'Compare version 1 with now' }).click()
    await rig.text('− "maxPages": 10,')
    await rig.text('+ "maxPages": 30,')
    await page.getByRole('button', { name: 'Restore version 1' }).click()
    await rig.text('Version 4.')
    expect(await getSpider(services, id)).toMatchObject({ version: 4, definition: { maxPages: 10 } })
  })

  test('two who edit the same version do not overwrite each other', async () => {
    const { page, services } = rig
    await saveSpider(services, { name: 'shared' }, 'lin')
    await rig.enter(page, '/spiders/shared')
    await page.getByLabel('Description', { exact: true }).fill('mine')
    await saveSpider(services, { name: 'shared', description: 'theirs' }, 'wu')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await rig.text(/Somebody else changed shared meanwhile; it is at version 2 now/)
    expect((await getSpider(services, 'shared')).definition.description).toBe('theirs')
  })

  test('a spider goes out as YAML and comes in from a file, with its faults told', async () => {
    const { page, services } = rig
    await saveSpider(services, { name: 'written', follow: { allow: ['/a'] } }, 'lin')
    await rig.enter(page, '/spiders/written')
    await page.getByRole('tab', { name: 'As text' }).click()
    await page.getByText('YAML', { exact: true }).click()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('written.yaml')
    const text = await readFile(await download.path(), 'utf8')
    expect(text).toContain('allow:\n    - /a\n')
    const file = join(folder, 'other.yaml')
    await writeFile(file, text.replace('scope: host', 'scope: moon'))
    await page.locator('input[type=file]').setInputFiles(file)
    await page.getByRole('button', { name: 'Use this text' }).click()
    await rig.text(/follow\.scope is "moon"/)
    await writeFile(file, text.replace('scope: host', 'scope: none').replace('name: written', 'name: other'))
    await page.locator('input[type=file]').setInputFiles(file)
    await page.getByText('scope: none').waitFor()
    await page.getByRole('button', { name: 'Use this text' }).click()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await rig.text('Version 2.')
    expect((await getSpider(services, 'written')).definition.follow.scope).toBe('none')
  })

  test('the playground shows a page that a worker fetched beside its items, which follow the selectors without another fetch', async () => {
    const { page, services } = rig
    await saveSpider(services, lamps('lamps'), 'lin')
    await rig.enter(page, '/spiders/lamps?tab=playground')
    await page.getByLabel('Address to try').fill(`${shop.address}/moved`)
    await page.getByRole('button', { name: 'Fetch', exact: true }).click()
    await rig.text('No worker serves the queue')
    await startWorker()
    await page.getByRole('button', { name: 'Fetch', exact: true }).click()
    await rig.text('Answer 200')
    await rig.text('utf-8, by the Content-Type')
    await page.getByRole('heading', { name: 'One item', exact: true }).waitFor()
    await rig.text('not fetched: robots.txt forbids it')
    await page.frameLocator('iframe').getByRole('heading', { name: 'Desk lamp' }).waitFor()
    const asked = shop.requests.length
    await page.getByRole('textbox', { name: 'CSS selector' }).fill('.price')
    const started = performance.now()
    await page.getByText('12.50', { exact: true }).waitFor()
    expect(performance.now() - started).toBeLessThan(2000)
    expect(shop.requests).toHaveLength(asked)
    await rig.text('Not saved yet.')
  })

  test('an answer of JSON has its items in the playground too', async () => {
    const { page, services } = rig
    const from = { jsonpath: '$.lamps' }
    const items = [{ name: 'lamp', from, fields: { title: { jsonpath: '$.name' } } }]
    await saveSpider(services, { ...lamps('stock'), items }, 'lin')
    await startWorker()
    await rig.enter(page, '/spiders/stock?tab=playground')
    await page.getByLabel('Address to try').fill(`${shop.address}/stock.json`)
    await page.getByRole('button', { name: 'Fetch', exact: true }).click()
    await page.getByRole('heading', { name: '2 items', exact: true }).waitFor()
    await page.getByText('Night light', { exact: true }).waitFor()
  })

  test('在手机上用中文也能试抓', async () => {
    await saveSpider(rig.services, lamps('tai-deng'), 'lin')
    await startWorker()
    const telephone = await rig.open({ locale: 'zh-CN', width: 390, colorScheme: 'dark' })
    await rig.enter(telephone, '/spiders/tai-deng?tab=playground')
    await telephone.getByLabel('要试抓的网址').fill(`${shop.address}/moved`)
    await telephone.getByRole('button', { name: '抓取', exact: true }).click()
    await telephone.getByText('响应 200').waitFor()
    await telephone.getByRole('heading', { name: '1 个条目' }).waitFor()
    expect(await telephone.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
    await telephone.context().close()
  })

  test('在手机上用中文也能修改爬虫，页面不超出屏幕', async () => {
    await saveSpider(rig.services, { name: 'mobile' }, 'lin')
    const telephone = await rig.open({ locale: 'zh-CN', width: 390, colorScheme: 'dark' })
    await rig.enter(telephone, '/spiders')
    expect(await telephone.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
    await telephone.getByRole('link', { name: 'mobile' }).click()
    await telephone.getByLabel('说明').fill('手机上修改')
    await telephone.getByRole('button', { name: '保存', exact: true }).click()
    await telephone.getByText('第 2 版。').waitFor()
    expect(await telephone.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
    await telephone.context().close()
  })

  test('what a spider signs in with is entered, shown without its secret, and removed', async () => {
    const { page } = rig
    const { id } = await saveSpider(rig.services, lamps('keeper'), 'test')
    await rig.enter(page, '/spiders/keeper')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Site').fill(`${shop.address}/lamp`)
    await dialog.getByLabel('User', { exact: true }).fill('me')
    await dialog.getByLabel('Password', { exact: true }).fill('hushhush')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText(/User and password · me/).waitFor()
    expect(await listCredentials(rig.services, id)).toMatchObject([{ origin: shop.address, shown: 'me' }])
    expect(await page.content()).not.toContain('hushhush')
    await page.getByRole('button', { name: `Remove the sign-in at ${shop.address}` }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await rig.text('The spider signs in nowhere.')
    expect(await listCredentials(rig.services, id)).toEqual([])
  })
})
