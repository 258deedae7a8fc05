import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { consoleRig } from './console-rig'

describe('the settings', { timeout: 120_000 }, () => {
  const rig = consoleRig()

  test('somebody is invited, sets a password, is an operator by one click, and is signed out everywhere or kept out by another', async () => {
    const { page } = rig
    await rig.enter(page, '/settings/people')
    await page.getByRole('button', { name: 'Invite somebody' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Li Na')
    await dialog.getByLabel('Email').fill('li.na@example.com')
    await dialog.getByRole('button', { name: 'Make a link' }).click()
    const link = await dialog.getByText(/^http.*\/welcome\?token=/).textContent()
    await dialog.getByRole('button', { name: 'I have it' }).click()

    const hers = await rig.open()
    await hers.goto(link!)
    await hers.getByRole('button', { name: 'Open the console' }).click()
    await hers.waitForURL((url) => url.search === '')
    await hers.goto(`${rig.address}/settings`)
    await hers.getByText('Where you are signed in').waitFor()
    expect(await hers.getByRole('link', { name: 'Audit log' }).count()).toBe(0)
    await hers.goto(`${rig.address}/welcome`)
    await hers.getByLabel('Email').fill('li.na@example.com')
    await hers.getByLabel('Password', { exact: true }).fill('a first long password')
    await hers.getByRole('button', { name: 'Save and go on' }).click()
    await hers.getByRole('heading', { name: 'Overview' }).waitFor()
    await hers.goto(`${rig.address}/settings`)
    await hers.getByLabel('Current password').fill('not her password')
    await hers.getByLabel('New password').fill('a second long password')
    await hers.getByRole('button', { name: 'Change the password' }).click()
    await hers.getByText('The current password is wrong.').waitFor()
    await hers.getByLabel('Current password').fill('a first long password')
    await hers.getByRole('button', { name: 'Change the password' }).click()
    await hers.getByText('The password is changed, and all other sessions have ended.').waitFor()

    await page.reload()
    const role = page.getByRole('combobox', { name: 'Role of Li Na' }).first()
    await role.waitFor()
    // What is chosen before the page listens is not heard.
    await expect
      .poll(() => role.evaluate((select) => Object.keys(select).some((key) => key.startsWith('__react'))), {
        timeout: 20_000,
      })
      .toBe(true)
    await role.selectOption('operator')
    await expect
      .poll(
        async () => {
          const [rows] = await rig.services.database.pool.query(
            "SELECT role, (SELECT COUNT(*) FROM session WHERE user_id = user.id) AS sessions FROM user WHERE email = 'li.na@example.com'",
          )
          return rows
        },
        { timeout: 20_000 },
      )
      .toEqual([{ role: 'operator', sessions: 0 }])
    await page.getByRole('combobox', { name: 'Role of Administrator' }).first().selectOption('viewer')
    await rig.text(/is the last administrator\. Make somebody else one first/)

    await page.getByRole('button', { name: 'Disable Li Na' }).first().click()
    await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
    await page.getByRole('button', { name: 'Enable Li Na' }).first().waitFor()
    await hers.goto(`${rig.address}/sign-in`)
    await hers.getByLabel('Email').fill('li.na@example.com')
    await hers.getByLabel('Password', { exact: true }).fill('a second long password')
    await hers.getByRole('button', { name: 'Sign in' }).click()
    await hers.getByText('This account is disabled. Ask an administrator to enable it.').waitFor()
    await page.getByRole('button', { name: 'Enable Li Na' }).first().click()
    await page.getByRole('button', { name: 'Disable Li Na' }).first().waitFor()
    await hers.getByRole('button', { name: 'Sign in' }).click()
    await hers.getByRole('heading', { name: 'Overview' }).waitFor()
    await hers.context().close()
  })

  test('a key is shown once and works until it is revoked; the audit log tells both, narrowed and downloaded', async () => {
    const { page } = rig
    await rig.enter(page, '/settings/keys')
    await page.getByRole('button', { name: 'Make a key' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Prometheus')
    await dialog.getByRole('button', { name: 'Make the key' }).click()
    const key = await dialog.getByText(/^orb_/).textContent()
    await dialog.getByRole('button', { name: 'I have it' }).click()
    await dialog.waitFor({ state: 'detached' })
    const metrics = () => fetch(`${rig.address}/metrics`, { headers: { authorization: `Bearer ${key}` } })
    expect((await metrics()).status).toBe(200)
    await page.reload()
    await rig.text('Valid')
    expect(await page.content()).not.toContain(key!)
    await page.getByRole('button', { name: 'Revoke the key “Prometheus”' }).first().click()
    await dialog.getByRole('button', { name: 'Revoke' }).click()
    await rig.text('Revoked')
    expect((await metrics()).status).not.toBe(200)

    await page.getByRole('link', { name: 'Audit log' }).click()
    await page.getByRole('combobox', { name: 'What' }).selectOption('key.revoke')
    await expect.poll(() => page.locator('tbody tr').count(), { timeout: 20_000 }).toBe(1)
    await page.getByRole('cell', { name: 'Prometheus' }).waitFor()
    await page.getByRole('button', { name: 'Download' }).click()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'JSON lines' }).click(),
    ])
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { action: 'key.revoke', subject: key!.slice(4, 16) },
    ])
    expect((await fetch(`${rig.address}/api/changes?format=csv`)).status).toBe(401)
  })

  test('the documentation of the API is open to all, finds operations by any word, and loads nothing from elsewhere', async () => {
    const { page } = rig
    const foreign: string[] = []
    page.on('request', (request) => {
      if (!request.url().startsWith(rig.address)) foreign.push(request.url())
    })
    const response = await page.goto(`${rig.address}/api/docs#startRun`)
    expect(response!.headers()['content-security-policy']).toMatch(
      /script-src 'self' 'nonce-[^']+' 'strict-dynamic';/,
    )
    // The address named an operation, which is open.
    await rig.text(/curl -X POST "\$ORBWEAVER\/api\/v1\/runs"/)
    await rig.text(`export ORBWEAVER=${rig.address}`)
    await page.getByRole('textbox', { name: 'Search operations' }).fill('host delay')
    await expect
      .poll(() => page.getByRole('button', { name: /^(GET|PUT|POST)/ }).count(), { timeout: 20_000 })
      .toBe(1)
    await page.getByRole('button', { name: 'PUT /queues/{queue}/hosts/{host}' }).click()
    await rig.text('Body')
    const document = await (await fetch(`${rig.address}/api/v1/openapi.json?language=zh-CN`)).json()
    expect(document.paths['/runs'].post.summary).toBe('开始运行')
    const client = await fetch(`${rig.address}/api/v1/typescript`)
    expect(client.headers.get('content-disposition')).toBe('attachment; filename="orbweaver.ts"')
    expect(await client.text()).toContain('export function createOrbweaver')
    expect(foreign).toEqual([])
  })

  test('in Chinese, on a telephone, every page of the settings fits, and so does the documentation of the API', async () => {
    const telephone = await rig.open({ locale: 'zh-CN', width: 390, colorScheme: 'dark' })
    for (const [path, words] of [
      ['/settings', '登录中的会话'],
      ['/settings/people', '邀请用户'],
      ['/settings/keys', '已吊销'],
      ['/settings/audit', '吊销 API 密钥 · '],
      ['/api/docs#listPages', '一次运行中已结束的页面，最新的在前'],
    ] as const) {
      await rig.enter(telephone, path)
      await telephone.getByText(words).last().waitFor()
      expect(await telephone.evaluate(() => document.documentElement.scrollWidth), path).toBe(390)
    }
    await telephone.context().close()
  })
})
