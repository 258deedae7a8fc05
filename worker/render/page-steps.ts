import type { Page } from 'playwright-core'
import type { RenderAction, RenderRules } from '../../core/render-rules'

/** How long is waited for `load`, `idle` and the selector, each; what is not there by then is done without. */
const WAIT_MS = 10_000
const ACTION_MS = 5_000
const SCROLL_MS = 500

/**
 * Waits, acts and scrolls as a spider asks for. A page that never comes to rest, or lacks what is looked for, is taken as it is:
 * the item's required fields say whether that was enough. @throws only when the page or its browser is gone.
 */
export async function takeSteps(page: Page, rules: RenderRules): Promise<void> {
  await leniently(page, () => page.waitForLoadState('load', { timeout: WAIT_MS }))
  if (rules.wait === 'idle')
    await leniently(page, () => page.waitForLoadState('networkidle', { timeout: WAIT_MS }))
  if (rules.selector) await leniently(page, () => present(page, rules.selector!, WAIT_MS))
  for (const action of rules.actions) await leniently(page, () => act(page, action))
  for (let n = 0; n < rules.scroll; n++) {
    await leniently(page, () =>
      page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight)),
    )
    await page.waitForTimeout(SCROLL_MS)
  }
  if (rules.settle > 0) await page.waitForTimeout(rules.settle * 1000)
}

async function act(page: Page, action: RenderAction): Promise<void> {
  const timeout = ACTION_MS
  if ('click' in action) await page.click(css(action.click), { timeout })
  else if ('fill' in action) await page.fill(css(action.fill), action.text, { timeout })
  else if ('waitFor' in action) await present(page, action.waitFor, ACTION_MS)
  else if ('wait' in action) await page.waitForTimeout(action.wait * 1000)
  else if (action.on) await page.press(css(action.on), action.press, { timeout })
  else await page.keyboard.press(action.press)
}

/** Playwright has selectors of other kinds as well, which are not for spiders. */
const css = (selector: string) => `css=${selector}`

async function present(page: Page, selector: string, timeout: number): Promise<void> {
  await page.waitForSelector(css(selector), { timeout, state: 'attached' })
}

async function leniently(page: Page, step: () => Promise<unknown>): Promise<void> {
  try {
    await step()
  } catch (error) {
    if (page.isClosed()) throw error
  }
}
