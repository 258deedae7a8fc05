import { readFile } from 'node:fs/promises'
import { type Browser, chromium } from 'playwright-core'
import { sentence, Unavailable } from '../../core/errors'
import type { Log } from '../../core/log'

/**
 * Beside what Playwright gives. The browser resolves no name and opens no connection by itself: each page has a proxy of ours, and
 * what is outside of pages (updates, look-ups ahead) has one that leads nowhere.
 */
const FLAGS = [
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
  '--dns-prefetch-disable',
  '--no-pings',
  // QUIC and WebRTC speak UDP, past any proxy.
  '--disable-quic',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  // Frames of other sites stay in their page's process: a page is a process, whose memory is bounded and whose end is its own.
  // Pages are kept apart from each other by their contexts all the same.
  '--disable-site-isolation-trials',
  // A script that wants more ends its own page, before the kernel ends whatever is largest.
  '--js-flags=--max-old-space-size=400',
  '--mute-audio',
  '--disable-gpu',
]
/** A port on which nothing listens, and to which no one may bind without being root. */
const NOWHERE = 'socks5://127.0.0.1:9'

export interface BrowserOptions {
  /** Program of Chromium. */
  path: string
  /** Pages at once; more wait for one of them to end. */
  slots: number
  /** Pages after which the browser is started anew. */
  recyclePages: number
  /** Megabytes of all of its processes above which it is started anew. */
  memoryLineMb: number
  log: Log
}

/** Milliseconds for the browser to end. */
const CLOSE_MS = 5_000
/** How often at most the browser's memory is looked at, and how long it may take to tell, in milliseconds. */
const LOOK_MS = 2_000

/** The browser ended with pages in it. Whose fault it was cannot be told, so all of them are charged with a delivery. */
export class BrowserLost extends Unavailable {
  override name = 'BrowserLost'
}

/**
 * One browser for all pages of the worker, started when the first is wanted, and anew once it ended, served its number of
 * pages, or grew too large. For that, pages that come wait until those in it have ended: there are never two browsers at once,
 * nor more pages in it than `slots`, which the memory was not reckoned for.
 */
export class RenderBrowser {
  #browser: Promise<Browser> | undefined
  #pages = 0
  #served = 0
  #retiring: { done: Promise<void>; resolve: () => void } | undefined
  readonly #waiting: (() => void)[] = []
  #lookedAt = 0
  #bytes = 0
  #sandbox = process.getuid?.() !== 0
  #process: number | undefined

  constructor(private readonly options: BrowserOptions) {}

  /** Memory of all of the browser's processes when it was last looked at, in bytes. */
  get bytes(): number {
    return this.#bytes
  }

  /** Whether pages are in the browser's own sandbox; known once it was started. */
  get sandboxed(): boolean {
    return this.#sandbox
  }

  /** Starts it, so that one that cannot be is noticed before pages are taken. @throws Unavailable as `use` does. */
  async start(): Promise<void> {
    await this.use(async () => {})
  }

  /** @throws BrowserLost when the browser ends meanwhile, Unavailable when it cannot be started. */
  async use<T>(render: (browser: Browser) => Promise<T>): Promise<T> {
    await this.#room()
    try {
      const browser = await this.#started()
      this.#served++
      return await withinLife(browser, render)
    } finally {
      await this.#look()
      this.#pages--
      if (this.#retiring && this.#pages === 0) await this.#recycle()
      else this.#waiting.shift()?.()
    }
  }

  /** Takes a place among the pages, in the order of coming. */
  async #room(): Promise<void> {
    for (;;) {
      if (this.#retiring) await this.#retiring.done
      else if (this.#pages >= this.options.slots)
        await new Promise<void>((resolve) => {
          this.#waiting.push(resolve)
        })
      else break
    }
    this.#pages++
  }

  /** Ends the browser; one that does not end by itself is killed. */
  async close(): Promise<void> {
    const browser = await this.#browser?.catch(() => undefined)
    this.#browser = undefined
    const timer = setTimeout(() => this.#kill(), CLOSE_MS)
    await browser?.close().catch(() => {})
    clearTimeout(timer)
  }

  /** Starts it anew once the pages in it have ended. */
  retire(why: string): void {
    if (this.#retiring) return
    this.options.log.info(
      { pages: this.#served, mb: Math.round(this.#bytes / 2 ** 20) },
      `${why}; the browser is started anew`,
    )
    let resolve = () => {}
    const done = new Promise<void>((settle) => {
      resolve = settle
    })
    this.#retiring = { done, resolve }
  }

  #kill(): void {
    try {
      if (this.#process !== undefined) process.kill(this.#process, 'SIGKILL')
    } catch {
      // It ended meanwhile.
    }
  }

  #started(): Promise<Browser> {
    if (this.#browser) return this.#browser
    const launched = this.#launch()
    this.#browser = launched
    const forget = () => {
      if (this.#browser === launched) this.#browser = undefined
    }
    launched.then((browser) => browser.once('disconnected', forget), forget)
    return launched
  }

  async #launch(): Promise<Browser> {
    this.#served = 0
    const { path, log } = this.options
    const launch = () =>
      chromium.launch({
        executablePath: path,
        args: FLAGS,
        // Without this one the browser lets no page open windows by itself.
        ignoreDefaultArgs: ['--disable-popup-blocking'],
        chromiumSandbox: this.#sandbox,
        proxy: { server: NOWHERE },
        // Signals are the worker's to handle.
        handleSIGINT: false,
        handleSIGTERM: false,
        handleSIGHUP: false,
      })
    const first = this.#process === undefined
    try {
      const browser = await launch().catch((error: unknown) => {
        if (!this.#sandbox || !/sandbox/i.test(sentence(error))) throw error
        this.#sandbox = false
        return launch()
      })
      this.#process = (await processesOf(browser)).find(({ type }) => type === 'browser')?.id
      if (first && !this.#sandbox)
        log.warn(
          process.getuid?.() === 0
            ? 'Chromium has no sandbox when root starts it; nothing but its container, if it is in one, stands between pages and this machine. Start this worker as another user'
            : 'Chromium cannot have its sandbox here; nothing but its container, if it is in one, stands between pages and this machine',
        )
      return browser
    } catch (error) {
      throw new Unavailable(`Chromium (${path}) does not start: ${sentence(error).split('\n')[0]}`, {
        cause: error,
      })
    }
  }

  async #look(): Promise<void> {
    const browser = await this.#browser?.catch(() => undefined)
    if (!browser) return
    if (this.#retiring) return
    if (performance.now() - this.#lookedAt > LOOK_MS) {
      this.#lookedAt = performance.now()
      const bytes = await within(
        LOOK_MS,
        memoryOf(browser).catch(() => 0),
      )
      // Nothing can be told to a browser that hangs; it is killed once its pages have come to their time limits.
      if (bytes === undefined) return this.retire('It does not answer')
      this.#bytes = bytes
    }
    const { recyclePages, memoryLineMb } = this.options
    if (this.#bytes > memoryLineMb * 2 ** 20) this.retire('Its memory is above the line')
    else if (this.#served >= recyclePages) this.retire('It has served its number of pages')
  }

  async #recycle(): Promise<void> {
    const waiting = this.#retiring!
    await this.close()
    this.#bytes = 0
    this.#retiring = undefined
    waiting.resolve()
    for (const come of this.#waiting.splice(0)) come()
  }
}

/** What the work comes to, or undefined when that takes longer. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms)
  })
  return Promise.race([late, work]).finally(() => clearTimeout(timer))
}

async function withinLife<T>(browser: Browser, render: (browser: Browser) => Promise<T>): Promise<T> {
  let ended = () => {}
  const lost = new Promise<never>((_, reject) => {
    ended = () =>
      reject(
        new BrowserLost('The browser ended in the middle of pages; they come again when their leases lapse.'),
      )
  })
  lost.catch(() => {})
  browser.once('disconnected', ended)
  try {
    if (!browser.isConnected()) ended()
    return await Promise.race([lost, render(browser)])
  } catch (error) {
    // Whatever was under way fails first, with words of its own.
    if (!browser.isConnected()) return await lost
    throw error
  } finally {
    browser.off('disconnected', ended)
  }
}

/** Process ids of the browser: its own and those of its children. */
export async function processesOf(browser: Browser): Promise<{ id: number; type: string }[]> {
  const session = await browser.newBrowserCDPSession()
  try {
    return (await session.send('SystemInfo.getProcessInfo')).processInfo
  } finally {
    await session.detach().catch(() => {})
  }
}

/** Memory that is the browser's alone, in bytes: without what is mapped from its files, which the kernel can take back. */
async function memoryOf(browser: Browser): Promise<number> {
  let kb = 0
  for (const { id } of await processesOf(browser)) {
    const status = await readFile(`/proc/${id}/status`, 'utf8').catch(() => '')
    for (const [, part] of status.matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm)) kb += Number(part)
  }
  return kb * 1024
}
