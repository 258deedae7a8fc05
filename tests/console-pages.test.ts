import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { urlHash } from '../core/url'
import { items, pages } from '../drizzle/schema/pages'
import { seedRuns } from '../server/scheduler/seed-runs'
import { settleEpoch } from '../server/services/epoch'
import { configureQueue } from '../server/services/queues'
import { consoleRig } from './console-rig'
import { work } from './server-rig'

const BEGAN = 'https://example.com/'

describe('the pages of a run', { timeout: 240_000 }, () => {
  const rig = consoleRig()

  /** A run whose seed failed, and of whose other pages every tenth did, with a hundred more done. @returns its id. */
  async function aCrawl(): Promise<number> {
    await settleEpoch(rig.services)
    await configureQueue(rig.services, rig.queue, { delayMs: 0, perHost: 50 }, 'test')
    const id = await rig.aRun()
    await seedRuns(rig.services, () => true)
    const links = Array.from({ length: 9 }, (_, n) => `https://shop.example.com/bad/${n}`)
    await work({ services: rig.services, queue: rig.queue } as never, (url) =>
      url === BEGAN ? { links } : { state: 'failed' },
    )
    const { orm } = rig.services.database
    const at = {
      runId: id,
      attempts: 0,
      deliveries: 1,
      token: '1.1',
      fetchedAt: new Date(Date.UTC(2026, 4, 1)),
    }
    await orm.insert(pages).values(
      Array.from({ length: 100 }, (_, n) => {
        const url = `https://news.example.com/${n}`
        const more = { status: 200, depth: 2, items: n === 7 ? 1 : 0, title: `<b>${n}</b>` }
        return { ...at, ...more, urlHash: urlHash(url), url, state: 'done' as const, referrer: BEGAN }
      }),
    )
    await orm.insert(items).values({
      runId: id,
      urlHash: urlHash('https://news.example.com/7'),
      n: 0,
      name: 'article',
      data: { headline: '<script>alert(1)</script>' },
      createdAt: at.fetchedAt,
    })
    return id
  }

  test('they are narrowed by what is asked of them, in an address that can be handed on, and taken away as a file', async () => {
    const { page } = rig
    const run = await aCrawl()
    await rig.enter(page, `/runs/${run}`)
    await page.getByRole('link', { name: 'https://shop.example.com/bad/1' }).waitFor()
    await page.getByRole('textbox', { name: 'Part of the URL' }).fill('/bad/')
    await page.getByRole('link', { name: 'https://news.example.com/99' }).waitFor({ state: 'detached' })
    expect(await page.locator('table tbody tr').count()).toBe(9)
    await page.waitForURL(/\?url=%2Fbad%2F$/)
    await page.getByRole('button', { name: 'Clear the filter' }).click()
    await page.getByRole('link', { name: 'https://news.example.com/99' }).waitFor()

    await page.goto(`${rig.address}/runs/${run}?host=news.example.com&status=200&depth=2&url=/7`)
    await page.getByRole('link', { name: 'https://news.example.com/79' }).waitFor()
    expect(await page.locator('table tbody tr').count()).toBe(11)
    await page.getByRole('button', { name: 'Download' }).click()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Only the URLs' }).click(),
    ])
    const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\n')
    expect(lines).toHaveLength(11)
    expect(lines).toContain('https://news.example.com/7')
  })

  test('a page says what came of it, where from, and what was taken; what failed is tried again, one or all that match', async () => {
    const { page } = rig
    const run = await aCrawl()
    await rig.enter(page, `/runs/${run}?url=news.example.com/7`)
    await page.getByRole('link', { name: 'https://news.example.com/7', exact: true }).click()
    await page.getByRole('heading', { name: `A page of run ${run}` }).waitFor()
    await page.getByText('<script>alert(1)</script>').waitFor()
    await page.getByRole('link', { name: BEGAN, exact: true }).click()
    await rig.text('It is a seed: the run began with it.')

    await page.goto(`${rig.address}/runs/${run}?state=failed`)
    await page.getByRole('link', { name: 'https://shop.example.com/bad/3' }).click()
    await page.getByRole('button', { name: 'Retry this page' }).click()
    await page.getByRole('button', { name: 'Retry 1', exact: true }).click()
    await rig.text('Pages that wait again: 1.')
    await page.getByRole('button', { name: 'Close' }).last().click()
    await rig.text(/It waits to be fetched again/)
    expect((await rig.services.queue(rig.queue).counts(run)).pending).toBe(1)

    await page.goto(`${rig.address}/runs/${run}?url=/bad/`)
    await page.getByRole('button', { name: 'Retry all that match' }).click()
    await page.getByRole('button', { name: 'Retry 9', exact: true }).click()
    await rig.text('Pages that wait again: 8.')
    expect((await rig.services.queue(rig.queue).counts(run)).pending).toBe(9)
  })

  test('在手机上用中文也能筛选页面、查看单个页面，页面不超出屏幕', async () => {
    const run = await aCrawl()
    const telephone = await rig.open({ locale: 'zh-CN', width: 390, colorScheme: 'dark' })
    await rig.enter(telephone, `/runs/${run}`)
    await telephone.getByRole('textbox', { name: '网址的一部分' }).fill('没有这样的')
    await telephone.getByText('没有这类页面。').or(telephone.getByText('暂时没有这类页面。')).waitFor()
    expect(await telephone.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
    const hash = urlHash('https://news.example.com/7').toString('hex')
    await telephone.goto(`${rig.address}/runs/${run}/pages/${hash}`)
    await telephone.getByText('如何找到此页面').waitFor()
    expect(await telephone.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
    await telephone.context().close()
  })

  test('files of pages are for those who are signed in, and a filter that can’t be meant is refused', async () => {
    const { page } = rig
    const run = await rig.aRun()
    const path = `${rig.address}/api/runs/${run}/pages?format=csv`
    expect((await fetch(path)).status).toBe(401)
    await rig.enter(page)
    const status = async (url: string) => (await page.context().request.get(url)).status()
    expect(await status(path)).toBe(200)
    for (const wrong of ['format=xml', 'format=csv&status=abc', 'format=csv&state=open', 'format=csv&drop=1'])
      expect(await status(`${rig.address}/api/runs/${run}/pages?${wrong}`)).toBe(400)
  })
})
