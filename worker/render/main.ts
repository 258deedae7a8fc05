import { UserError } from '../../core/errors'
import { runWorker } from '../worker-program'
import { chromiumOnPath, isProgram } from './chromium-path'
import { memoryLimitMb, pageSlots } from './page-slots'
import { createRenderer } from './renderer'

/** Of the memory limit, what the browser may reach before it is started anew. */
const MEMORY_LINE = 0.8

/** The worker that opens pages in Chromium. A program of its own: the plain worker's has no browser in it. */
await runWorker(async (settings, log) => {
  const limitMb = settings.RENDER_MEMORY_MB ?? (await memoryLimitMb())
  const slots = pageSlots(limitMb, settings.RENDER_PAGES)
  const path = settings.CHROMIUM_PATH ?? (await chromiumOnPath())
  if (!path || !(await isProgram(path)))
    throw new UserError(
      path
        ? `CHROMIUM_PATH is ${path}, where there is no program; correct it, or leave it out for the one on PATH.`
        : 'There is no Chromium on PATH; install it (on Debian: apt-get install chromium), or name it in CHROMIUM_PATH.',
    )
  log.info({ chromium: path, limitMb, pages: slots }, 'Pages that may be open at once')
  const renderer = createRenderer({
    path,
    slots,
    recyclePages: settings.RENDER_RECYCLE_PAGES,
    memoryLineMb: Math.round(limitMb * MEMORY_LINE),
    log,
    userAgent: settings.USER_AGENT,
    maxRedirects: settings.MAX_REDIRECTS,
    maxBytes: settings.MAX_BODY_BYTES,
    connectTimeoutMs: settings.CONNECT_TIMEOUT * 1000,
    totalTimeoutMs: settings.RENDER_TIMEOUT * 1000,
  })
  await renderer.browser.start()
  return {
    fetcher: renderer,
    remark: renderer.browser.sandboxed ? null : 'Chromium runs without its own sandbox',
    slots,
    timeoutMs: settings.RENDER_TIMEOUT * 1000,
    bytes: () => renderer.browser.bytes,
  }
})
