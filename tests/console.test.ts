import { describe, expect, test } from 'vitest'
import { urlHash } from '../core/url'
import { pages } from '../drizzle/schema/pages'
import { forgive } from '../server/attempts'
import { createSignInLink } from '../server/sign-in-link'
import { consoleRig } from './console-rig'

describe('the console', { timeout: 120_000 }, () => {
  const rig = consoleRig()

  test('without a session every page leads to the sign-in page, which says how to get in', async () => {
    const { page } = rig
    for (const path of ['/', '/runs/1', '/welcome']) {
      await page.goto(rig.address + path)
      await page.waitForURL(`${rig.address}/sign-in`)
    }
    await rig.text('Open the sign-in link')
  })

  test('the link lets in with one click, and the password set next lets in again', async () => {
    const { page } = rig
    const link = await createSignInLink(rig.services)
    // Looking does not use it up.
    expect((await fetch(link)).status).toBe(200)
    await page.goto(link)
    await page.getByRole('button', { name: 'Open the console' }).click()
    await page.getByLabel('Email').fill('lin@example.com')
    await page.getByLabel('Password', { exact: true }).fill('correct horse')
    await page.getByRole('button', { name: 'Save and go on' }).click()
    await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor()
    expect(await page.getByText('have no password yet').count()).toBe(0)

    await page.getByRole('button', { name: 'Your account' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.waitForURL(`${rig.address}/sign-in`)
    await page.getByLabel('Email').fill('lin@example.com')
    await page.getByLabel('Password', { exact: true }).fill('wrong password')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await rig.text('Email or password is wrong.')
    await page.getByLabel('Password', { exact: true }).fill('correct horse')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor()

    await page.context().clearCookies()
    await page.goto(link)
    await page.getByRole('button', { name: 'Open the console' }).click()
    await rig.text('This link was used already')
  })

  test('a run is started from an address and cancelled after a question', async () => {
    const { page } = rig
    await rig.enter(page)
    await page.getByLabel('Start a run').fill('ftp://example.com/')
    await page.getByRole('button', { name: 'Start', exact: true }).click()
    await rig.text('That did not work')

    await page.getByLabel('Start a run').fill('example.com/first')
    await page.getByRole('button', { name: 'Start', exact: true }).click()
    await page.getByText('has started').getByRole('link').click()
    await page.getByRole('heading', { name: /^Run \d+/ }).waitFor()
    await rig.text('by lin@example.com')

    await page.getByRole('button', { name: /^Cancel run/ }).click()
    await page.getByRole('button', { name: 'Let it run' }).last().click()
    await page.getByRole('button', { name: /^Cancel run/ }).click()
    await page.getByRole('button', { name: 'Cancel the run' }).click()
    await rig.text('Cancelling')
  })

  test('figures follow Redis within seconds, and say since when they stand still while the server is away', async () => {
    const { page } = rig
    await rig.enter(page)
    await rig.services.redis.rpush(
      rig.queue,
      ...Array.from({ length: 1234 }, (_, n) => `https://example.com/${n}`),
    )
    const backlog = page.getByRole('region', { name: 'Backlog' })
    await backlog.getByText('1,234', { exact: true }).waitFor()

    await rig.endWeb('SIGTERM')
    await rig.text(/^Live data is paused since \d\d:\d\d:\d\d, reconnecting…$/)
    await rig.services.redis.del(rig.queue)
    await rig.startWeb()
    await page.getByText('Live data is paused').waitFor({ state: 'detached', timeout: 30_000 })
    await backlog.getByText('0', { exact: true }).waitFor()
  })

  test('each failure is told in plain words, and the list goes on where it ended', async () => {
    const { page } = rig
    const run = await rig.aRun()
    await rig.services.database.orm.insert(pages).values(
      Array.from({ length: 60 }, (_, n) => {
        const url = `https://example.com/page-${n}`
        return {
          runId: run,
          urlHash: urlHash(url),
          url,
          ...(n === 59
            ? { state: 'failed' as const, reason: 'dns' }
            : { state: 'done' as const, title: `Title ${n}` }),
          depth: 1,
          attempts: 0,
          deliveries: 1,
          items: 1,
          token: '1.1',
          fetchedAt: new Date(Date.UTC(2026, 4, 1, 10, 0, n)),
        }
      }),
    )
    await rig.enter(page)
    await page.goto(`${rig.address}/runs/${run}`)
    await rig.text('The host name can’t be resolved.')
    // The zone of the server, named beside the time.
    await rig.text(/18:00:59 GMT\+8/)
    await page.getByRole('button', { name: 'Older' }).click()
    await rig.text('https://example.com/page-0')
    await page.getByText(/^Failed \(/).click()
    await page.getByText('https://example.com/page-0', { exact: true }).first().waitFor({ state: 'detached' })
    await rig.text('https://example.com/page-59')
    await page.goto(`${rig.address}/runs/999999`)
    await rig.text('There is nothing here')
  })

  test('language and colours change in the page and stay', async () => {
    const { page } = rig
    await rig.enter(page)
    await page.getByRole('button', { name: 'Language' }).click()
    await page.getByRole('menuitem', { name: '简体中文' }).click()
    await page.getByRole('heading', { name: '概览', exact: true }).waitFor()
    expect(await page.locator('html').getAttribute('lang')).toBe('zh-CN')
    await page.getByRole('button', { name: '主题' }).click()
    await page.getByRole('menuitem', { name: '深色' }).click()
    await page.reload()
    await page.getByRole('heading', { name: '概览', exact: true }).waitFor()
    expect(await page.locator('html').getAttribute('data-mantine-color-scheme')).toBe('dark')
  })

  test('a browser that prefers Chinese, on a telephone, gets a page that fits', async () => {
    const run = await rig.aRun()
    const telephone = await rig.open({ locale: 'zh-CN', width: 390, colorScheme: 'dark' })
    await rig.enter(telephone)
    for (const path of ['/', `/runs/${run}`]) {
      await telephone.goto(rig.address + path)
      await telephone.getByRole('heading', { level: 1 }).waitFor()
      expect(await telephone.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
    }
    await telephone.getByRole('button', { name: '打开菜单' }).click()
    await telephone.getByRole('link', { name: '运行', exact: true }).click()
    await telephone.waitForURL(`${rig.address}/runs`)
    await telephone.context().close()
  })

  test('what a form is refused is told in the reader’s language', async () => {
    await rig.enter(rig.page)
    const chinese = await rig.open({ locale: 'zh-CN' })
    await rig.enter(chinese)
    await chinese.getByPlaceholder('https://example.com/').fill('ftp://example.com/{x}')
    await chinese.getByRole('button', { name: '开始', exact: true }).click()
    await chinese.getByText('“ftp://example.com/{x}”的协议是 ftp:，无法抓取。').waitFor()
    await chinese.context().close()
  })

  test('a page carries the headers that keep foreign scripts and frames away', async () => {
    const answer = await fetch(`${rig.address}/sign-in`)
    const policy = answer.headers.get('content-security-policy')
    expect(policy).toMatch(/script-src 'self' 'nonce-[\w=+/]+' 'strict-dynamic'/)
    expect(policy).not.toMatch(/script-src[^;]*unsafe/)
    expect(policy).toContain("frame-ancestors 'none'")
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(answer.headers.get('referrer-policy')).toBe('same-origin')
    expect(answer.headers.get('x-powered-by')).toBeNull()
  })

  test('who writes other addresses into X-Forwarded-For is slowed at the sign-in all the same', async () => {
    const answers: number[] = []
    for (let n = 0; n < 11; n++) {
      const { status } = await fetch(`${rig.address}/api/auth/sign-in/email`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          origin: rig.address,
          'x-forwarded-for': `203.0.113.${n}`,
        },
        body: JSON.stringify({ email: `nobody${n}@example.com`, password: 'wrong wrong' }),
      })
      answers.push(status)
    }
    expect(answers.at(-1)).toBe(429)
    await forgive(rig.services.redis, 'address:127.0.0.1|/sign-in/email')
  })

  test('the API turns away what a foreign page could make a browser send', async () => {
    const post = (path: string, headers: Record<string, string>) =>
      fetch(`${rig.address}/api/${path}`, { method: 'POST', headers, body: '{}' }).then(
        (answer) => answer.status,
      )
    const json = { 'content-type': 'application/json' }
    for (const path of ['trpc/runs.start', 'auth/sign-in/email']) {
      expect(await post(path, { ...json, origin: 'https://evil.example' })).toBe(403)
      expect(await post(path, { 'content-type': 'text/plain', origin: rig.address })).toBe(415)
    }
    expect(await post('trpc/runs.start', { ...json, origin: rig.address })).toBe(401)
    expect(
      await post('trpc/runs.start', { ...json, origin: rig.address, 'x-middleware-subrequest': 'proxy' }),
    ).toBe(401)
  })
})
