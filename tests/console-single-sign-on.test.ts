import { describe, expect, test } from 'vitest'
import { invitePerson } from '../server/services/people'
import { consoleRig } from './console-rig'
import { startIdentityProvider } from './identity-provider'

describe('single sign-on', { timeout: 180_000 }, () => {
  const rig = consoleRig()

  test('who was invited comes in through the provider, who was not is told whom to ask, also in Chinese', async () => {
    const provider = await startIdentityProvider(`${rig.address}/api/auth/callback/oidc`, {
      li: { email: 'li.na@example.com', email_verified: true, name: 'Li Na' },
      bo: { email: 'bo.yi@example.com', email_verified: true, name: 'Bo Yi' },
    })
    try {
      await rig.endWeb('SIGTERM')
      Object.assign(rig.env, {
        OIDC_ISSUER: provider.issuer,
        OIDC_CLIENT_ID: provider.client.id,
        OIDC_CLIENT_SECRET: provider.client.secret,
        OIDC_NAME: 'Example ID',
      })
      await rig.startWeb()
      const person = { name: 'Li Na', email: 'li.na@example.com', role: 'viewer' as const }
      await invitePerson(rig.services, person, 'test')

      const { page } = rig
      await page.goto(`${rig.address}/sign-in`)
      await page.getByRole('button', { name: 'Sign in with Example ID' }).click()
      await page.locator('input[name=login]').fill('li')
      await page.locator('input[name=password]').fill('x')
      await page.locator('button[type=submit]').click()
      await page.locator('input[name=prompt][value=consent]').waitFor({ state: 'attached' })
      await page.locator('button[type=submit]').click()
      await page.getByRole('heading', { name: 'Overview' }).waitFor()

      const stranger = await rig.open({ locale: 'zh-CN', width: 390, colorScheme: 'dark' })
      await stranger.goto(`${rig.address}/sign-in`)
      await stranger.getByRole('button', { name: '使用 Example ID 登录' }).click()
      await stranger.locator('input[name=login]').fill('bo')
      await stranger.locator('input[name=password]').fill('x')
      await stranger.locator('button[type=submit]').click()
      await stranger.locator('input[name=prompt][value=consent]').waitFor({ state: 'attached' })
      await stranger.locator('button[type=submit]').click()
      await stranger.getByText('Example ID 提供的邮箱在这里没有账号。').waitFor()
      expect(new URL(stranger.url()).pathname).toBe('/sign-in')
      await stranger.context().close()
    } finally {
      await provider.close()
    }
  })
})
