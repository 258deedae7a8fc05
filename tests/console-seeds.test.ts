import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import iconv from 'iconv-lite'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { listSeeds } from '../server/services/seed-list'
import { hasSeeds } from '../server/services/seed-rows'
import { getSpider, saveSpider } from '../server/services/spiders'
import { consoleRig } from './console-rig'

describe('the page of seeds', { timeout: 120_000 }, () => {
  const rig = consoleRig()
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'orbweaver-seeds-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  async function aFile(name: string, content: string | Buffer): Promise<string> {
    const path = join(folder, name)
    await writeFile(path, content)
    return path
  }

  /** A spider of the test's own, without seeds. @returns its id. */
  async function aSpider(name: string): Promise<number> {
    return (await saveSpider(rig.services, { name }, 'test')).id
  }

  const stored = async (spider: number) =>
    (await listSeeds(rig.services, { spider, limit: 200 })).seeds.map((seed) => seed.url).sort()

  test('pasted addresses become seeds, are found by a part of theirs, disabled and deleted', async () => {
    const { page } = rig
    const spider = await aSpider('pasted')
    await rig.enter(page, '/seeds?spider=pasted')
    await page.getByText('Paste', { exact: true }).click()
    await page
      .getByRole('textbox', { name: 'Addresses', exact: true })
      .fill('https://a.test/one\nhttps://a.test/two\nftp://a.test/three\nhttps://a.test/one\n')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await rig.text('2 new · 1 known already · 1 rejected')
    await page.getByRole('cell', { name: 'ftp://a.test/three', exact: true }).waitFor()
    await page.getByRole('heading', { name: '2 seeds' }).waitFor()
    // The list is read anew beside the count: what is not there yet can't be told from what a search has left out.
    await rig.text('https://a.test/one')

    await page.getByRole('textbox', { name: 'Search in the addresses' }).fill('/tw')
    await page.getByText('https://a.test/one', { exact: true }).first().waitFor({ state: 'hidden' })
    await page.getByLabel('Choose https://a.test/two').first().check()
    const disable = page.getByRole('button', { name: 'Disable' })
    await disable.click()
    await rig.text('Disabled')
    // The choice goes with the answer, which a list read meanwhile may be ahead of.
    await disable.waitFor({ state: 'detached' })
    await page.getByLabel('Choose https://a.test/two').first().check()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Really delete 1' }).click()
    await rig.text('No seed has “/tw” in its address.')
    expect(await stored(spider)).toEqual(['https://a.test/one'])
  })

  test('a file in GBK is shown as it will be read, its columns chosen, and its bad lines handed back', async () => {
    const { page } = rig
    const spider = await aSpider('filed')
    await rig.enter(page, '/seeds?spider=filed')
    const text = '商品;页面\n中文商品;https://a.test/1\n数据;not a url\n其他;https://a.test/2\n'
    await page.locator('input[type=file]').setInputFiles(await aFile('货物.csv', iconv.encode(text, 'gbk')))
    await page.getByRole('cell', { name: '中文商品' }).waitFor()
    expect(await page.getByLabel('Encoding').inputValue()).toBe('gb18030')
    expect(await page.getByLabel('Delimiter').inputValue()).toBe(';')
    await page.getByLabel('What 页面 holds').selectOption('url')
    await page.getByLabel('What 商品 holds').selectOption('keep')
    await page.getByRole('button', { name: 'Upload', exact: true }).click()
    await rig.text('2 new · 0 known already · 1 rejected')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download 1 as CSV' }).click(),
    ])
    expect(await readFile(await download.path(), 'utf8')).toMatch(
      /^\ufeffline,reason,text\r\n3,.*数据;not a url\r\n$/,
    )
    expect(await stored(spider)).toEqual(['https://a.test/1', 'https://a.test/2'])
    const { seeds } = await listSeeds(rig.services, { spider, search: '/1', limit: 1 })
    expect(seeds[0]!.meta).toBe('{"商品":"中文商品"}')
  })

  test('a file that is to be taken whole leaves nothing when one line is bad', async () => {
    const { page } = rig
    const spider = await aSpider('whole')
    await rig.enter(page, '/seeds?spider=whole')
    await page
      .locator('input[type=file]')
      .setInputFiles(await aFile('whole.csv', 'url\nhttps://a.test/1\nmailto:a@a.test\n'))
    await page.getByLabel('Take nothing of the file').check()
    await page.getByRole('button', { name: 'Upload', exact: true }).click()
    await rig.text('Nothing of whole.csv was taken')
    expect(await stored(spider)).toEqual([])
  })

  test('a cancelled upload leaves nothing behind, and no run could have begun with any of it', async () => {
    const { page, services } = rig
    const spider = await aSpider('cancelled')
    await rig.enter(page, '/seeds?spider=cancelled')
    const lines = Array.from({ length: 400_000 }, (_, n) => `https://a.test/${n}`)
    await page.locator('input[type=file]').setInputFiles(await aFile('long.txt', lines.join('\n')))
    await page.getByRole('button', { name: 'Upload', exact: true }).click()
    await page
      .getByText(/\d+ new · 0 known already/)
      .first()
      .waitFor()
    const many = async () => (await listSeeds(services, { spider, limit: 1 })).seeds.length
    expect(await many()).toBe(1)
    expect(await hasSeeds(services.database.pool, await getSpider(services, spider))).toBe(false)
    await page.getByRole('button', { name: 'Cancel', exact: true }).click()
    await rig.text('long.txt was cancelled')
    await vi.waitFor(async () => expect(await many()).toBe(0), { timeout: 60_000, interval: 500 })
    await rig.text('Not taken')
  })

  test('在手机上用中文也能添加种子，页面不超出屏幕', async () => {
    await aSpider('mobile')
    const telephone = await rig.open({ locale: 'zh-CN', width: 390, colorScheme: 'dark' })
    await rig.enter(telephone, '/seeds?spider=mobile')
    await telephone.getByText('粘贴', { exact: true }).click()
    await telephone.getByRole('textbox', { name: '网址', exact: true }).fill('https://a.test/手机')
    await telephone.getByRole('button', { name: '添加', exact: true }).click()
    await telephone.getByText('新增 1 · 已存在 0 · 拒绝 0').first().waitFor()
    await telephone.getByRole('heading', { name: '1 个种子' }).waitFor()
    expect(await telephone.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
    await telephone.context().close()
  })

  test('a file is taken from the console’s own pages and from operators alone', async () => {
    const spider = await aSpider('guarded')
    const as = encodeURIComponent(JSON.stringify({ spider, fileName: 'x', wholeOnly: false }))
    const post = (headers: Record<string, string>) =>
      fetch(`${rig.address}/api/seeds/file?as=${as}`, {
        method: 'POST',
        headers: { 'content-type': 'application/octet-stream', ...headers },
        body: 'https://a.test/',
      }).then((answer) => answer.status)
    expect(await post({})).toBe(403)
    expect(await post({ origin: 'https://evil.example' })).toBe(403)
    expect(await post({ origin: rig.address })).toBe(401)
    expect(await post({ origin: rig.address, 'content-type': 'text/plain' })).toBe(415)
    expect((await fetch(`${rig.address}/api/seeds/rejected/1`)).status).toBe(401)
    expect(await stored(spider)).toEqual([])
  })
})
