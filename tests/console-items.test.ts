import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { urlHash } from '../core/url'
import { items, pages } from '../drizzle/schema/pages'
import { createRun } from '../server/services/runs'
import { saveSpider } from '../server/services/spiders'
import { consoleRig } from './console-rig'

describe('the items of a run', { timeout: 240_000 }, () => {
  const rig = consoleRig()

  /** A run that took 120 products, in the order of their addresses' hashes. @returns its id. */
  async function aShop(name: string): Promise<number> {
    const { services } = rig
    const fields = {
      title: { css: 'h1' },
      price: { css: '.price', type: 'number' as const },
      tags: { css: 'li', list: true },
    }
    const spider = await saveSpider(services, { name, items: [{ name: 'product', fields }] }, 'lin')
    const { id } = await createRun(services, {
      spider: spider.id,
      queue: rig.queue,
      seeds: [{ url: 'https://shop.test/' }],
      trigger: 'manual',
    })
    const urls = Array.from({ length: 120 }, (_, n) => `https://shop.test/${n}`)
    const at = { fetchedAt: new Date(), depth: 0, attempts: 0, deliveries: 1, items: 1, token: '1.1' }
    await services.database.orm
      .insert(pages)
      .values(urls.map((url) => ({ runId: id, urlHash: urlHash(url), url, state: 'done' as const, ...at })))
    await services.database.orm.insert(items).values(
      urls.map((url, n) => ({
        runId: id,
        urlHash: urlHash(url),
        n: 0,
        name: 'product',
        data: { price: n, title: n === 7 ? '=1+1' : `<b>产品 ${n}</b>`, tags: ['a', 'b'] },
        createdAt: new Date(),
      })),
    )
    return id
  }

  test('they are shown as text, page by page, searched, and downloaded in the columns chosen', async () => {
    const { page } = rig
    const run = await aShop('items-shop')
    await rig.enter(page, `/runs/${run}`)
    await page.getByRole('link', { name: 'Items' }).click()
    await page.getByRole('heading', { name: `Items of run ${run}` }).waitFor()
    await page
      .getByRole('cell', { name: /^<b>产品 \d+<\/b>$/ })
      .first()
      .waitFor()
    expect(await page.locator('table').first().locator('tbody tr').count()).toBe(50)
    await page.getByRole('button', { name: 'Older' }).click()
    await page.getByText('Page 2').waitFor()
    await page.getByRole('textbox', { name: 'Search in fields and addresses' }).fill('产品 119<')
    await page.getByRole('cell', { name: '<b>产品 119</b>' }).waitFor()
    await page.getByRole('cell', { name: '<b>产品 5</b>' }).waitFor({ state: 'detached' })

    await page
      .getByRole('textbox', { name: 'Columns' })
      .or(page.getByRole('combobox', { name: 'Columns' }))
      .first()
      .click()
    await page.getByRole('option', { name: 'title' }).click()
    await page.keyboard.press('Escape')
    await page.getByRole('columnheader', { name: 'price' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Download' }).click()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'CSV, for spreadsheets such as Excel' }).click(),
    ])
    expect(download.suggestedFilename()).toBe(`run-${run}-product.csv`)
    const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\r\n')
    expect(lines[0]).toBe('\ufeffurl,title')
    expect(lines).toHaveLength(121)
    expect(lines).toContain("https://shop.test/7,'=1+1")
  })

  test('在手机上用中文也能查看条目，页面不超出屏幕', async () => {
    const run = await aShop('items-mobile')
    const telephone = await rig.open({ locale: 'zh-CN', width: 390, colorScheme: 'dark' })
    await rig.enter(telephone, `/runs/${run}/items`)
    await telephone.getByText('https://shop.test/').locator('visible=true').first().waitFor()
    await telephone.getByRole('textbox', { name: '在字段和网址中搜索' }).fill('没有这样的')
    await telephone.getByText('没有包含“没有这样的”的条目。').waitFor()
    expect(await telephone.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
    await telephone.context().close()
  })

  test('files of items are for those who are signed in, and what is asked for must be there', async () => {
    const { page } = rig
    const run = await aShop('items-guarded')
    const path = `${rig.address}/api/runs/${run}/items?kind=product&format=json`
    expect((await fetch(path)).status).toBe(401)
    await rig.enter(page)
    const status = async (url: string) => (await page.context().request.get(url)).status()
    expect(await status(path)).toBe(200)
    for (const wrong of [
      'kind=product&format=json&fields=no',
      'kind=product&format=xml',
      'kind=other&format=json',
    ])
      expect(await status(`${rig.address}/api/runs/${run}/items?${wrong}`)).toBe(400)
  })
})
