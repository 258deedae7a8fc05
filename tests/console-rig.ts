import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type Browser, type Cookie, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, vi } from 'vitest'
import { buildConsole, CONSOLE_PROGRAM } from '../cli/console-build'
import { packageFile } from '../cli/package-file'
import { findChromium } from '../cli/stack/chromium'
import { freePort } from '../cli/stack/ports'
import { childEnv, setEnv } from '../core/env'
import { openServices, type Services } from '../server/context'
import { ensureQueue } from '../server/services/queues'
import { createRun } from '../server/services/runs'
import { ensureDefaultSpider } from '../server/services/spiders'
import { createSignInLink } from '../server/sign-in-link'
import { consoleEnv } from './console-services'
import { freshDatabase } from './services'

export interface Window {
  locale?: string
  width?: number
  colorScheme?: 'light' | 'dark'
}

export interface ConsoleRig {
  /** A fresh window of each test, 1440 pixels wide, light, in English, without a session. */
  readonly page: Page
  readonly services: Services
  /** Where the console is, without a slash at the end. */
  readonly address: string
  /** The queue that the console starts runs in. */
  readonly queue: string
  /** The process of the console, and what its environment says at the next start. */
  readonly web: ChildProcess
  readonly env: Record<string, string>
  /** Another window, without a session; close its context in the test. */
  open(window?: Window): Promise<Page>
  /** Signs in as the first administrator and goes to `path`. */
  enter(into: Page, path?: string): Promise<void>
  /** Waits until these words are to be seen. */
  text(words: string | RegExp): Promise<void>
  /** A run that began with one seed, as the console's own form makes it. @returns its id. */
  aRun(): Promise<number>
  startWeb(): Promise<void>
  endWeb(signal: NodeJS.Signals): Promise<void>
}

/**
 * The built console, in a browser, on real servers; nothing runs beside it, so what moves is what the test moved. Call it
 * at the top of a `describe`. A test fails when the browser complained: of errors in scripts, or of what the content
 * security policy refused.
 */
export function consoleRig(): ConsoleRig {
  let chromiumPath: string | undefined
  let skipReason: string | undefined
  let browser: Browser
  let services: Services
  let site: Awaited<ReturnType<typeof freshDatabase>>
  let web: ChildProcess
  let address: string
  let env: Record<string, string>
  let page: Page
  let session: Cookie[] | undefined
  let complaints: string[] = []

  beforeAll(async () => {
    const found = await findChromium()
    if (found.path === undefined) {
      skipReason = found.reason
      return
    }
    chromiumPath = found.path
    await buildConsole((message) => console.warn(message))
    site = await freshDatabase()
    const port = await freePort()
    address = `http://127.0.0.1:${port}`
    env = { ...consoleEnv(site.url), PUBLIC_URL: address, PROXY_TEST_URL: address, TZ: 'Asia/Shanghai' }
    setEnv(env)
    services = await openServices('test')
    await ensureQueue(services, env.QUEUE_KEY!)
    await startWeb()
    browser = await chromium.launch({
      executablePath: chromiumPath,
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
    if (skipReason !== undefined) skip(skipReason)
    complaints = []
    page = await open()
  })
  afterEach(async () => {
    if (chromiumPath === undefined) return
    await page.context().close()
    expect(complaints).toEqual([])
  })

  async function startWeb(): Promise<void> {
    const { port } = new URL(address)
    web = spawn(process.execPath, [packageFile(CONSOLE_PROGRAM)], {
      env: childEnv({ ...env, NODE_ENV: 'production', PORT: port, HOSTNAME: '127.0.0.1' }),
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    await vi.waitFor(async () => expect((await fetch(`${address}/readyz`)).status).toBe(200), {
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

  async function open({ locale = 'en-US', width = 1440, colorScheme = 'light' }: Window = {}): Promise<Page> {
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

  return {
    get page() {
      return page
    },
    get services() {
      return services
    },
    get address() {
      return address
    },
    get queue() {
      return env.QUEUE_KEY!
    },
    get web() {
      return web
    },
    get env() {
      return env
    },
    open,
    startWeb,
    endWeb,
    text: (words) => page.getByText(words).first().waitFor(),
    async enter(into, path = '/') {
      // One link serves all windows: the session it gives is carried into each.
      if (session) await into.context().addCookies(session)
      else {
        await into.goto(await createSignInLink(services))
        await into.getByRole('button', { name: 'Open the console' }).click()
        await into.waitForURL((url) => url.search === '')
        session = await into.context().cookies()
      }
      await into.goto(address + path)
    },
    async aRun() {
      const { id: spider } = await ensureDefaultSpider(services)
      const seeds = [{ url: 'https://example.com/' }]
      const { id } = await createRun(services, { spider, queue: env.QUEUE_KEY!, seeds, trigger: 'manual' })
      return id
    },
  }
}
