import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type Browser, type Cookie, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { buildConsole, CONSOLE_PROGRAM } from '../cli/console-build'
import { packageFile } from '../cli/package-file'
import { findChromium } from '../cli/stack/chromium'
import { freePort } from '../cli/stack/ports'
import { childEnv, setEnv } from '../core/env'
import { urlHash } from '../core/url'
import { pages } from '../drizzle/schema/pages'
import { openServices, type Services } from '../server/context'
import { ensureQueue } from '../server/services/queues'
import { createRun } from '../server/services/runs'
import { ensureDefaultSpider } from '../server/services/spiders'
import { createSignInLink } from '../server/sign-in-link'
import { consoleEnv } from './console-services'
import { freshDatabase } from './services'

const found = await findChromium()

/** The built console, in a browser, on real servers; nothing runs beside it, so what moves is what the test moved. */
describe('the console', { timeout: 120_000 }, () => {
  let browser: Browser
  let services: Services
  let site: Awaited<ReturnType<typeof freshDatabase>>
  let web: ChildProcess
  let address: string
  let env: Record<string, string>
  let page: Page
  /** What the browser complained of: errors of scripts, refusals of the content security policy. */
  let complaints: string[]

  beforeAll(async () => {
    if (!found.path) return
    await buildConsole((message) => console.warn(message))
    site = await freshDatabase()
    const port = await freePort()
    address = `http://127.0.0.1:${port}`
    env = { ...consoleEnv(site.url), PUBLIC_URL: address, TZ: 'Asia/Shanghai' }
    setEnv(env)
    services = await openServices('test')
    await ensureQueue(services, env.QUEUE_KEY!)
    await startWeb()
    browser = await chromium.launch({
      executablePath: found.path,
      args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking'],
    })
  }, 600_000)

  afterAll(async () => {
    await browser?.close()
    await endWeb('SIGKILL')
    await services?.close()
    await site?.drop()
  })

  beforeEach(async ({ skip }) => {
    if (found.path === undefined) skip(found.reason)
    complaints = []
    page = await open()
  })
  afterEach(async () => {
    if (!found.path) return
    await page.context().close()
    expect(complaints).toEqual([])
  })

  async function startWeb(): Promise<void> {
    const { port } = new URL(address)
    web = spawn(process.execPath, [packageFile(CONSOLE_PROGRAM)], {
      env: childEnv({ ...env, NODE_ENV: 'production', PORT: port, HOSTNAME: '127.0.0.1' }),
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    await vi.waitFor(async () => expect((await fetch(`${address}/api/health`)).status).toBe(200), {
      timeout: 30_000,
      interval: 200,
    })
  }

  async function endWeb(signal: NodeJS.Signals): Promise<void> {
    if (!web || web.exitCode !== null || web.signalCode !== null) return
    const ended = once(web, 'exit')
    web.kill(signal)
    await ended
  }

  /** A window of its own, without a session. */
  async function open(options: { locale?: string; width?: number; colorScheme?: 'light' | 'dark' } = {}) {
    const { locale = 'en-US', width = 1440, colorScheme = 'light' } = options
    const context = await browser.newContext({ locale, colorScheme, viewport: { width, height: 900 } })
    context.setDefaultTimeout(30_000)
    const opened = await context.newPage()
    opened.on('pageerror', (error) => complaints.push(error.message))
    opened.on('console', (message) => {
      // What the browser says of answers such as 401 is no fault of the page.
      if (message.type() === 'error' && !/Failed to load resource|ERR_/.test(message.text()))
        complaints.push(message.text())
    })
    return opened
  }

  let session: Cookie[] | undefined

  /** To the overview; the first time through a sign-in link. */
  async function enter(into: Page): Promise<void> {
    if (session) await into.context().addCookies(session)
    else {
      await into.goto(await createSignInLink(services))
      await into.getByRole('button', { name: 'Open the console' }).click()
      await into.waitForURL((url) => url.search === '')
      session = await into.context().cookies()
    }
    await into.goto(address)
  }

  /** A run that began with one seed, as the console's own form makes it. */
  async function aRun(): Promise<number> {
    const { id: spider } = await ensureDefaultSpider(services)
    const seeds = [{ url: 'https://example.com/' }]
    const { id } = await createRun(services, { spider, queue: env.QUEUE_KEY!, seeds, trigger: 'manual' })
    return id
  }

  const text = (words: string | RegExp) => page.getByText(words).first().waitFor()

  test('without a session every page leads to the sign-in page, which says how to get in', async () => {
    for (const path of ['/', '/runs/1', '/welcome']) {
      await page.goto(address + path)
      await page.waitForURL(`${address}/sign-in`)
    }
    await text('Open the sign-in link')
  })

  test('the link lets in with one click, and the password set next lets in again', async () => {
    const link = await createSignInLink(services)
    // Looking does not use it up.
    expect((await fetch(link)).status).toBe(200)
    await page.goto(link)
    await page.getByRole('button', { name: 'Open the console' }).click()
    await page.getByLabel('Email').fill('lin@example.com')
    await page.getByLabel('Password', { exact: true }).fill('correct horse')
    await page.getByRole('button', { name: 'Save and go on' }).click()
    await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor()
    expect(await page.getByText('have no password yet').count()).toBe(0)

    await page.getByRole('button', { name: 'Your account' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.waitForURL(`${address}/sign-in`)
    await page.getByLabel('Email').fill('lin@example.com')
    await page.getByLabel('Password', { exact: true }).fill('wrong password')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await text('Email or password is wrong.')
    await page.getByLabel('Password', { exact: true }).fill('correct horse')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor()

    await page.context().clearCookies()
    await page.goto(link)
    await page.getByRole('button', { name: 'Open the console' }).click()
    await text('This link was used already')
  })

  test('a run is started from an address and cancelled after a question', async () => {
    await enter(page)
    await page.getByLabel('Start a run').fill('ftp://example.com/')
    await page.getByRole('button', { name: 'Start', exact: true }).click()
    await text('That did not work')

    await page.getByLabel('Start a run').fill('example.com/first')
    await page.getByRole('button', { name: 'Start', exact: true }).click()
    await page.getByText('has started').getByRole('link').click()
    await page.getByRole('heading', { name: /^Run \d+/ }).waitFor()
    await text('by lin@example.com')

    await page.getByRole('button', { name: /^Cancel run/ }).click()
    await page.getByRole('button', { name: 'Let it run' }).last().click()
    await page.getByRole('button', { name: /^Cancel run/ }).click()
    await page.getByRole('button', { name: 'Cancel the run' }).click()
    await text('Cancelling')
  })

  test('figures follow Redis within seconds, and say since when they stand still while the server is away', async () => {
    await enter(page)
    await services.redis.rpush(
      env.QUEUE_KEY!,
      ...Array.from({ length: 1234 }, (_, n) => `https://example.com/${n}`),
    )
    const backlog = page.getByRole('region', { name: 'Backlog' })
    await backlog.getByText('1,234', { exact: true }).waitFor()

    await endWeb('SIGTERM')
    await text(/^Live data is paused since \d\d:\d\d:\d\d, reconnecting…$/)
    await services.redis.del(env.QUEUE_KEY!)
    await startWeb()
    await page.getByText('Live data is paused').waitFor({ state: 'detached', timeout: 30_000 })
    await backlog.getByText('0', { exact: true }).waitFor()
  })

  test('each failure is told in plain words, and the list goes on where it ended', async () => {
    const run = await aRun()
    await services.database.orm.insert(pages).values(
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
    await enter(page)
    await page.goto(`${address}/runs/${run}`)
    await text('The host name can’t be resolved.')
    // The zone of the server, named beside the time.
    await text(/18:00:59 GMT\+8/)
    await page.getByRole('button', { name: 'Older' }).click()
    await text('https://example.com/page-0')
    await page.getByText(/^Failed \(/).click()
    await page.getByText('https://example.com/page-0', { exact: true }).first().waitFor({ state: 'detached' })
    await text('https://example.com/page-59')
    await page.goto(`${address}/runs/999999`)
    await text('There is nothing here')
  })

  test('language and colours change in the page and stay', async () => {
    await enter(page)
    await page.getByRole('button', { name: 'Language' }).click()
    await page.getByRole('menuitem', { name: '简体中文' }).click()
    await page.getByRole('heading', { name: '运行', exact: true }).waitFor()
    expect(await page.locator('html').getAttribute('lang')).toBe('zh-CN')
    await page.getByRole('button', { name: '主题' }).click()
    await page.getByRole('menuitem', { name: '深色' }).click()
    await page.reload()
    await page.getByRole('heading', { name: '运行', exact: true }).waitFor()
    expect(await page.locator('html').getAttribute('data-mantine-color-scheme')).toBe('dark')
  })

  test('a browser that prefers Chinese, on a telephone, gets a page that fits', async () => {
    const run = await aRun()
    const telephone = await open({ locale: 'zh-CN', width: 390, colorScheme: 'dark' })
    await enter(telephone)
    for (const path of ['/', `/runs/${run}`]) {
      await telephone.goto(address + path)
      await telephone.getByRole('heading', { level: 1 }).waitFor()
      expect(await telephone.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
    }
    await telephone.getByRole('button', { name: '打开菜单' }).click()
    await telephone.getByRole('link', { name: '运行', exact: true }).click()
    await telephone.waitForURL(`${address}/`)
    await telephone.context().close()
  })

  test('a page carries the headers that keep foreign scripts and frames away', async () => {
    const answer = await fetch(`${address}/sign-in`)
    const policy = answer.headers.get('content-security-policy')
    expect(policy).toMatch(/script-src 'self' 'nonce-[\w=+/]+' 'strict-dynamic'/)
    expect(policy).not.toMatch(/script-src[^;]*unsafe/)
    expect(policy).toContain("frame-ancestors 'none'")
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(answer.headers.get('referrer-policy')).toBe('same-origin')
    expect(answer.headers.get('x-powered-by')).toBeNull()
  })

  test('the API turns away what a foreign page could make a browser send', async () => {
    const post = (path: string, headers: Record<string, string>) =>
      fetch(`${address}/api/${path}`, { method: 'POST', headers, body: '{}' }).then((answer) => answer.status)
    const json = { 'content-type': 'application/json' }
    for (const path of ['trpc/runs.start', 'auth/sign-in/email']) {
      expect(await post(path, { ...json, origin: 'https://evil.example' })).toBe(403)
      expect(await post(path, { 'content-type': 'text/plain', origin: address })).toBe(415)
    }
    expect(await post('trpc/runs.start', { ...json, origin: address })).toBe(401)
    expect(
      await post('trpc/runs.start', { ...json, origin: address, 'x-middleware-subrequest': 'proxy' }),
    ).toBe(401)
  })
})
