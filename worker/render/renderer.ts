import dns from 'node:dns'
import { setMaxListeners } from 'node:events'
import type { Lookup } from '../../core/address-guard'
import { FetchFailure } from '../fetch/failure'
import type { Fetched, Fetcher, FetchRequest } from '../fetch/fetcher'
import { serverAddress } from '../fetch/server-address'
import { type BrowserOptions, RenderBrowser } from './browser'
import { startGuardedProxy } from './guarded-proxy'
import { Rendering, type RenderingOptions } from './rendering'

export interface RendererOptions extends RenderingOptions, BrowserOptions {
  /** Milliseconds for a connection: name and TCP together. */
  connectTimeoutMs: number
  /** Milliseconds for one page, waiting and actions included. */
  totalTimeoutMs: number
  /** Resolver; the system's when absent. */
  lookup?: Lookup
}

export interface Renderer extends Fetcher {
  readonly browser: RenderBrowser
}

/**
 * A fetcher that opens pages in Chromium: what it answers with is the rendered HTML, with status, URL and headers of the main
 * document; what is no HTML comes as it was sent. Each page has a way out of its own, which ends with it.
 *
 * `fetch` throws `Unavailable` when page or browser broke down, which is not told apart from a worker that does: the page's lease
 * lapses, its delivery is charged, and after MAX_DELIVERIES it is a dead letter.
 */
export function createRenderer(options: RendererOptions): Renderer {
  const browser = new RenderBrowser(options)
  return {
    browser,
    fetch: (url, request) =>
      browser.use(async (chromium) => {
        const wayOut = await startGuardedProxy({
          allowPrivate: request.allowPrivate,
          timeoutMs: options.connectTimeoutMs,
          lookup: options.lookup,
          proxy: request.proxy?.address,
        })
        const page = new Rendering(options, url, request, wayOut)
        const limit = timeLimit(url, options.totalTimeoutMs, request.signal)
        try {
          return await Promise.race([limit.over, page.run(chromium)])
        } catch (error) {
          if (error instanceof FetchFailure) error.answer = page.known
          throw error
        } finally {
          limit.clear()
          if (!(await page.close())) browser.retire('A page does not close')
          wayOut.close()
        }
      }),
    addressOf: (host) => serverAddress(host, options.lookup ?? dns.lookup, options.connectTimeoutMs),
    close: () => browser.close(),
  }
}

function timeLimit(url: string, ms: number, signal: FetchRequest['signal']) {
  let stop: (failure: FetchFailure) => void
  const over = new Promise<Fetched>((_, reject) => {
    stop = reject
  })
  over.catch(() => {})
  const timer = setTimeout(
    () => stop(new FetchFailure('timeout_total', `${url}: not rendered after ${ms} ms`)),
    ms,
  )
  const onAbort = () => stop(new FetchFailure('aborted', `${url}: told to stop`))
  setMaxListeners(0, signal)
  signal.addEventListener('abort', onAbort)
  if (signal.aborted) onAbort()
  return {
    over,
    clear() {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
    },
  }
}
