import type { Browser, BrowserContext, CDPSession, Page, Response } from 'playwright-core'
import { Unavailable } from '../../core/errors'
import { PLAIN_RULES } from '../../core/render-rules'
import { FetchFailure } from '../fetch/failure'
import type { Fetched, FetchRequest } from '../fetch/fetcher'
import { within } from './browser'
import type { GuardedProxy } from './guarded-proxy'
import { isProxyFailure, navigationFailure, netError } from './page-failure'
import { takeSteps } from './page-steps'

export interface RenderingOptions {
  userAgent: string
  maxRedirects: number
  /** Bytes of the rendered HTML. */
  maxBytes: number
}

/** Never fetched: no link and no text is in them. */
const BLOCKED = new Set(['Image', 'Font', 'Media', 'TextTrack', 'Manifest', 'Prefetch'])
/** A site's icon, which the browser asks for by itself, has no type of its own. */
const isIcon = (type: string, url: string) =>
  type === 'Other' && /^[^?#]*\.(ico|png|svg|jpe?g|gif|webp)([?#]|$)/i.test(url)
/** Statuses whose answers have no body (RFC 9110 §15). */
const NO_BODY = new Set([204, 205, 304])
const READ_ATTEMPTS = 3
/** Milliseconds for a page to close. One that takes longer hangs, and its browser with it. */
const CLOSE_MS = 5_000

/** The page's renderer process ended, most often for want of memory: this page is charged with a delivery, those beside it go on. */
export class PageCrashed extends Unavailable {
  override name = 'PageCrashed'
}

interface Paused {
  requestId: string
  resourceType: string
  frameId: string
  request: { url: string; headers: Record<string, string> }
}

/** One page in a context of its own: its hops, its waiting, its HTML. */
export class Rendering {
  /** When the page was asked for: what the browser took to get there is not the site's time. */
  #started = performance.now()
  readonly #rules
  /** URLs of the main document, in the order they were asked for; the last is where it arrived. */
  readonly #hops: string[] = []
  #context: BrowserContext | undefined
  #session: CDPSession | undefined
  #mainFrame = ''
  #foreign = false
  #taken = false
  #refused: FetchFailure | undefined
  /** Chromium's word for why the last navigation that failed did. */
  #fault: string | undefined
  /** Answers of these, as far as there are any. */
  readonly #answers: Response[] = []
  /** Cookies of the run that it was given, as `name=value`. */
  readonly #given = new Set<string>()
  #headersMs = 0
  #crashed: (() => void) | undefined

  constructor(
    private readonly options: RenderingOptions,
    private readonly url: string,
    private readonly request: FetchRequest,
    private readonly proxy: GuardedProxy,
  ) {
    this.#rules = request.render ?? PLAIN_RULES
  }

  /** What is known when it fails, for the log and the tools. */
  get known() {
    return {
      finalUrl: this.#hops.at(-1) ?? this.url,
      status: this.#main?.status(),
      redirects: this.#hops.slice(0, -1),
      ms: this.#elapsed(),
    }
  }

  /** @throws FetchFailure as a plain fetch does, PageCrashed when the page's process ended. */
  async run(browser: Browser): Promise<Fetched> {
    const crashed = new Promise<never>((_, reject) => {
      this.#crashed = () =>
        reject(new PageCrashed('The page ended its process; it comes again when its lease lapses.'))
    })
    crashed.catch(() => {})
    return Promise.race([crashed, this.#render(browser)])
  }

  /** Ends it, at whatever point it is. @returns false when it would not close in time. */
  async close(): Promise<boolean> {
    const closed = this.#context?.close().catch(() => {})
    return (
      (await within(
        CLOSE_MS,
        Promise.resolve(closed).then(() => true),
      )) ?? false
    )
  }

  async #render(browser: Browser): Promise<Fetched> {
    const fault = await this.#faultOf(this.url)
    if (fault) throw fault
    const context = await browser.newContext({
      userAgent: this.request.userAgent ?? this.options.userAgent,
      acceptDownloads: false,
      serviceWorkers: 'block',
      proxy: { server: `socks5://127.0.0.1:${this.proxy.port}` },
    })
    this.#context = context
    await this.#takeCookiesAlong(context)
    const page = await context.newPage()
    context.on('page', (popup) => void popup.close().catch(() => {}))
    page.on('crash', () => this.#crashed?.())
    page.on('response', (response) => this.#note(page, response))
    page.on('requestfailed', (request) => {
      if (request.isNavigationRequest() && request.frame() === page.mainFrame())
        this.#fault = request.failure()?.errorText
    })
    await this.#intercept(context, page)
    await this.#open(page)
    const fetched = await this.#read(page)
    await this.#keepCookies(context)
    return fetched
  }

  async #open(page: Page): Promise<void> {
    try {
      // The time limit is the caller's, for all of it together.
      await page.goto(this.url, { waitUntil: 'domcontentloaded', timeout: 0 })
    } catch (error) {
      if (this.#refused) throw this.#refused
      // An answer without a page: 204, or something to be saved, which is refused.
      if (this.#main && netError(error) === 'ERR_ABORTED') return
      if (/Download is starting/.test(String(error)))
        throw new FetchFailure('type', `${this.url}: is a file to be saved`)
      throw this.#proxyFailure(error) ?? navigationFailure(error, this.url)
    }
  }

  /** The proxy knows why it did not connect; Chromium only that it did not. */
  #proxyFailure(error: unknown): FetchFailure | undefined {
    if (!isProxyFailure(netError(error))) return undefined
    const target = new URL(this.#hops.at(-1) ?? this.url)
    const port = Number(target.port) || (target.protocol === 'https:' ? 443 : 80)
    const failure = this.proxy.failure(target.hostname.replace(/^\[(.*)\]$/, '$1'), port)
    return failure && new FetchFailure(failure.code, `${this.url}: ${failure.detail}`, { cause: failure })
  }

  async #read(page: Page): Promise<Fetched> {
    const main = this.#main
    if (!main) throw new FetchFailure('network', `${this.url}: the browser opened no page`)
    const contentType = (await main.headerValue('content-type')) ?? null
    const isPage = contentType === null || /^\s*(text\/html|application\/xhtml\+xml)/i.test(contentType)
    if (this.request.accept && !this.request.accept(contentType) && main.ok())
      throw new FetchFailure('type', `${this.url}: Content-Type is ${contentType ?? 'not given'}`)
    if (!isPage || NO_BODY.has(main.status()))
      return this.#fetched(main, contentType, await this.#bodyOf(main), main.url())
    if (main.ok()) await takeSteps(page, this.#rules)
    if (this.#refused) throw this.#refused
    const html = await this.#html(page)
    this.#taken = true
    // It led on to where nothing answers, and what it shows is the browser's own words about that.
    if (page.url().startsWith('chrome-error:')) {
      const error = new Error(this.#fault)
      throw this.#proxyFailure(error) ?? navigationFailure(error, this.url)
    }
    // A step, or the page itself, may have led on to another document.
    const arrived = this.#main ?? main
    const address = addressOf(page, arrived)
    const fetched = await this.#fetched(arrived, 'text/html; charset=utf-8', Buffer.from(html), address)
    return { ...fetched, rendered: true }
  }

  /**
   * The document as it stands, cut where it becomes too long before it leaves the page's process. Read in a world of its own,
   * whose functions the page cannot have replaced. A page that leads on just then is read where it arrives.
   */
  async #html(page: Page): Promise<string> {
    const most = (this.request.maxBytes ?? this.options.maxBytes) + 1
    for (let attempt = 1; ; attempt++)
      try {
        const { executionContextId } = await this.#session!.send('Page.createIsolatedWorld', {
          frameId: this.#mainFrame,
        })
        const { result } = await this.#session!.send('Runtime.evaluate', {
          expression: `(${serialised})(document).slice(0, ${most})`,
          contextId: executionContextId,
          returnByValue: true,
        })
        return String(result.value)
      } catch (error) {
        if (page.isClosed() || attempt === READ_ATTEMPTS) throw error
        await page.waitForLoadState('domcontentloaded')
      }
  }

  async #bodyOf(main: Response): Promise<Buffer> {
    if (NO_BODY.has(main.status())) return Buffer.alloc(0)
    try {
      return await main.body()
    } catch (cause) {
      throw new FetchFailure('network', `${this.url}: the browser did not keep the body`, { cause })
    }
  }

  async #fetched(
    main: Response,
    contentType: string | null,
    body: Buffer,
    finalUrl: string,
  ): Promise<Fetched> {
    const maxBytes = this.request.maxBytes ?? this.options.maxBytes
    const capped = body.length > maxBytes
    return {
      url: this.url,
      finalUrl,
      status: main.status(),
      headers: await main.allHeaders(),
      contentType,
      body: capped ? body.subarray(0, maxBytes) : body,
      truncated: capped ? 'cap' : null,
      wireBytes: body.length,
      headersMs: this.#headersMs,
      ms: this.#elapsed(),
      lenient: false,
      redirects: this.#hops.slice(0, -1),
      hops: await Promise.all(this.#answers.slice(0, this.#answers.indexOf(main)).map(hopOf)),
    }
  }

  #note(page: Page, response: Response): void {
    const request = response.request()
    if (this.#taken || !request.isNavigationRequest() || request.frame() !== page.mainFrame()) return
    this.#answers.push(response)
    this.#headersMs ||= this.#elapsed()
  }

  /** Every request of the page stops here first, each hop of a redirect too. What it then connects to is the proxy's matter. */
  async #intercept(context: BrowserContext, page: Page): Promise<void> {
    const session = await context.newCDPSession(page)
    this.#session = session
    this.#mainFrame = (await session.send('Page.getFrameTree')).frameTree.frame.id
    session.on('Fetch.requestPaused', (paused) => {
      this.#decide(session, paused).catch((error: unknown) => {
        // A page that is closing answers nothing any more; any other fault must not leave it waiting.
        if (!page.isClosed()) void this.#refuse(session, paused, failureFor(error, paused.request.url))
      })
    })
    await session.send('Fetch.enable', { patterns: [{ urlPattern: '*', requestStage: 'Request' }] })
  }

  async #decide(session: CDPSession, paused: Paused): Promise<void> {
    const { requestId, resourceType, frameId, request } = paused
    if (resourceType === 'Document' && frameId === this.#mainFrame) return this.#hop(session, paused)
    const blocked =
      BLOCKED.has(resourceType) ||
      isIcon(resourceType, request.url) ||
      (resourceType === 'Stylesheet' && !this.#rules.stylesheets)
    if (blocked || !/^(https?|data|blob):/.test(request.url))
      await session.send('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' })
    else await session.send('Fetch.continueRequest', { requestId })
  }

  async #hop(session: CDPSession, paused: Paused): Promise<void> {
    const { requestId, request } = paused
    const { url } = request
    const failure = this.#taken
      ? new FetchFailure('aborted', `${this.url}: its content was taken already`)
      : await this.#faultOf(url)
    if (failure) return this.#refuse(session, paused, failure)
    if (this.#hops.length === 0) this.#started = performance.now()
    this.#foreign ||= new URL(url).origin !== new URL(this.url).origin
    this.#hops.push(url)
    const names = new Set(Object.keys(this.request.headers).map((name) => name.toLowerCase()))
    const headers = [
      // Without ours of the hop before, which are for one origin alone.
      ...Object.entries(request.headers).filter(([name]) => !names.has(name.toLowerCase())),
      ...(this.#foreign ? [] : Object.entries(this.request.headers)),
    ].map(([name, value]) => ({ name, value }))
    await session.send('Fetch.continueRequest', { requestId, headers })
  }

  /** The rules for redirects hold for every way in which a page leads on to another. */
  async #faultOf(url: string): Promise<FetchFailure | undefined> {
    if (!/^https?:/.test(url))
      return new FetchFailure('bad_scheme', `${this.url}: leads to ${url.slice(0, 200)}`)
    if (this.#hops.length === 0) return undefined
    const maxRedirects = this.request.maxRedirects ?? this.options.maxRedirects
    if (this.#hops.length > maxRedirects)
      return new FetchFailure('redirect_limit', `${this.url}: more than ${maxRedirects} redirects`)
    if (this.request.redirectAllowed && !(await this.request.redirectAllowed(url)))
      return new FetchFailure('redirect_scope', `${this.url}: redirects to ${url}`)
    return undefined
  }

  async #refuse(session: CDPSession, { requestId }: Paused, failure: FetchFailure): Promise<void> {
    if (!this.#taken) this.#refused ??= failure
    await session.send('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' }).catch(() => {})
  }

  async #takeCookiesAlong(context: BrowserContext): Promise<void> {
    const cookies = (this.request.cookies?.header(this.url) ?? '').split('; ').flatMap((pair) => {
      const at = pair.indexOf('=')
      return at > 0 ? [{ name: pair.slice(0, at), value: pair.slice(at + 1) }] : []
    })
    const domain = new URL(this.url).hostname
    for (const cookie of cookies) {
      this.#given.add(`${cookie.name}=${cookie.value}`)
      // One that Chromium does not take is done without.
      await context.addCookies([{ ...cookie, domain, path: '/' }]).catch(() => {})
    }
  }

  async #keepCookies(context: BrowserContext): Promise<void> {
    const url = this.#hops.at(-1)
    if (!this.request.cookies || !url) return
    // What it was given has lost its domain and path, which the jar knows.
    const set = (await context.cookies(url)).filter(({ name, value }) => !this.#given.has(`${name}=${value}`))
    const lines = set.map(
      ({ name, value, domain, path, expires, secure, httpOnly }) =>
        `${name}=${value}; Path=${path}${domain.startsWith('.') ? `; Domain=${domain}` : ''}${expires > 0 ? `; Expires=${new Date(expires * 1000).toUTCString()}` : ''}${secure ? '; Secure' : ''}${httpOnly ? '; HttpOnly' : ''}`,
    )
    this.request.cookies.take(url, lines)
  }

  get #main(): Response | undefined {
    return this.#answers.at(-1)
  }

  #elapsed(): number {
    return Math.round(performance.now() - this.#started)
  }
}

/** Runs in the page. */
const serialised = ({ doctype, documentElement }: Document) =>
  (doctype ? new XMLSerializer().serializeToString(doctype) : '') + (documentElement?.outerHTML ?? '')

const failureFor = (error: unknown, url: string) =>
  error instanceof FetchFailure
    ? error
    : new FetchFailure('network', `${url}: could not be asked for`, { cause: error })

/** Scripts may change the address without another request; links are relative to what it says then. */
function addressOf(page: Page, main: Response): string {
  const shown = new URL(page.url())
  shown.hash = ''
  return shown.origin === new URL(main.url()).origin ? shown.href : main.url()
}

const hopOf = async (response: Response): Promise<Fetched['hops'][number]> => ({
  url: response.url(),
  status: response.status(),
  headers: await response.allHeaders(),
})
