import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { consoleRig } from './console-rig'
import { totp } from './totp'

const PASSWORD = 'a long password of ada'

describe('the second factor', { timeout: 180_000 }, () => {
  const rig = consoleRig()

  /** From the password to the backup codes. @returns the secret, as who can't scan enters it by hand, and the codes. */
  async function setUp(page: Page, password: string): Promise<{ secret: string; backupCodes: string[] }> {
    const panel = page
      .locator('section, main')
      .filter({ has: page.getByRole('heading', { name: /econd factor/ }) })
      .last()
    await panel.getByLabel('Current password').fill(password)
    await panel.getByRole('button', { name: 'Go on' }).click()
    await panel.getByRole('img', { name: 'QR code for an authenticator app' }).waitFor()
    const secret = (await panel.locator('code').textContent())!
    await panel.getByLabel('Code', { exact: true }).fill(totp(secret))
    await panel.getByRole('button', { name: 'Verify' }).click()
    const codes = await panel.getByRole('region', { name: 'Backup codes' }).textContent()
    await panel.getByRole('button', { name: 'I have it' }).click()
    return { secret, backupCodes: codes!.split('\n') }
  }

  async function signIn(page: Page, email: string, password: string): Promise<void> {
    await page.goto(`${rig.address}/sign-in`)
    await page.getByLabel('Email').fill(email)
    await page.getByLabel('Password', { exact: true }).fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }

  test('it is set up with an app, asked for at each sign-in, asked of others, and reset for who has lost it', async () => {
    const { page } = rig
    await rig.enter(page, '/welcome')
    await page.getByLabel('Email').fill('ada@example.com')
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.getByRole('button', { name: 'Save and go on' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.goto(`${rig.address}/settings`)
    await page.getByRole('button', { name: 'Set up' }).click()
    const { secret, backupCodes } = await setUp(page, PASSWORD)
    await page.getByRole('button', { name: 'New backup codes' }).waitFor()
    expect(backupCodes).toHaveLength(10)
    expect(await page.content()).not.toContain(secret)

    const elsewhere = await rig.open()
    await signIn(elsewhere, 'ada@example.com', PASSWORD)
    await elsewhere.getByLabel('Code', { exact: true }).fill('000000')
    await elsewhere.getByRole('button', { name: 'Verify' }).click()
    await elsewhere.getByText('This code is wrong, used already or too old.').waitFor()
    await elsewhere.getByLabel('Code', { exact: true }).fill(totp(secret, 1))
    await elsewhere.getByRole('button', { name: 'Verify' }).click()
    await elsewhere.getByRole('heading', { name: 'Overview' }).waitFor()
    await elsewhere.context().close()

    const without = await rig.open()
    await signIn(without, 'ada@example.com', PASSWORD)
    await without.getByRole('button', { name: 'Use a backup code' }).click()
    await without.getByLabel('Backup code', { exact: true }).fill(backupCodes[3]!)
    await without.getByRole('button', { name: 'Verify' }).click()
    await without.getByRole('heading', { name: 'Overview' }).waitFor()
    await without.context().close()

    await page.goto(`${rig.address}/settings/people`)
    await page.getByRole('button', { name: 'Invite somebody' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Li Na')
    await dialog.getByLabel('Email').fill('li.na@example.com')
    await dialog.getByRole('button', { name: 'Make a link' }).click()
    const link = await dialog.getByText(/^http.*\/welcome\?token=/).textContent()
    await dialog.getByRole('button', { name: 'I have it' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Second factor of Li Na' }).first().click()
    await page.getByRole('menuitem', { name: 'Ask for a second factor' }).click()
    await rig.text('second factor asked for')

    const hers = await rig.open()
    await hers.goto(link!)
    await hers.getByRole('button', { name: 'Open the console' }).click()
    await hers.getByLabel('Email').fill('li.na@example.com')
    await hers.getByLabel('Password', { exact: true }).fill('a long password of li')
    await hers.getByRole('button', { name: 'Save and go on' }).click()
    await hers.getByRole('heading', { name: 'Set up a second factor' }).waitFor()
    await hers.goto(`${rig.address}/runs`)
    await hers.getByRole('heading', { name: 'Set up a second factor' }).waitFor()
    await setUp(hers, 'a long password of li')
    await hers.getByRole('heading', { name: 'Overview' }).waitFor()

    await page.reload()
    await page.getByRole('button', { name: 'Second factor of Li Na' }).first().click()
    await page.getByRole('menuitem', { name: 'Reset it' }).click()
    await dialog.getByRole('button', { name: 'Reset it' }).click()
    await rig.text('second factor asked for')
    await hers.goto(`${rig.address}/runs`)
    await hers.getByRole('heading', { name: 'Sign in' }).waitFor()
    await hers.context().close()

    await page.goto(`${rig.address}/settings/audit`)
    await page.getByRole('cell', { name: 'Second factor reset' }).waitFor()
    await page.getByRole('cell', { name: 'Signed in by backup code' }).waitFor()

    const telephone = await rig.open({ locale: 'zh-CN', width: 390, colorScheme: 'dark' })
    await telephone.context().addCookies(await page.context().cookies())
    await telephone.goto(`${rig.address}/settings`)
    await telephone.getByRole('heading', { name: '两步验证' }).waitFor()
    expect(await telephone.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
    await telephone.context().close()
  })
})
