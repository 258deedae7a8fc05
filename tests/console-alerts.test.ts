import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { setEnv } from '../core/env'
import { deliver } from '../server/alerts/deliver'
import { SECRET, startServices } from '../server/alerts/services-fixture'
import { consoleRig } from './console-rig'

describe('the page of the alerts', { timeout: 120_000 }, () => {
  const rig = consoleRig()
  let receivers: Awaited<ReturnType<typeof startServices>>
  beforeAll(async () => {
    receivers = await startServices()
  })
  afterAll(() => receivers.close())

  test('what fires is told on every page and in the history; a rule is silenced and switched off', async () => {
    const { page } = rig
    await rig.services.database.pool.query(
      `INSERT INTO alerts (rule, subject, open_key, state, figure, threshold, window_minutes, facts, started_at, told) VALUES
       ('blocked', 'all', 'blocked all', 'firing', 31, 20, 60, '{"hosts":"shop.example (31)"}', UTC_TIMESTAMP(3) - INTERVAL 9 MINUTE, true),
       ('success_rate', 'all', NULL, 'resolved', 0.9437, 0.95, 60, '{"failed":12,"ended":213,"hosts":"shop.example (12)","reasons":"http_500 (12)"}', UTC_TIMESTAMP(3) - INTERVAL 2 HOUR, true)`,
    )
    await rig.services.database.pool.query(
      "UPDATE alerts SET ended_at = started_at + INTERVAL 1 HOUR WHERE state = 'resolved'",
    )
    await rig.enter(page, '/')
    await page.getByRole('link', { name: '1 alert fires' }).click()
    await rig.text(
      '31 pages were refused by an anti-bot answer in the last 60 min; the threshold is 20. Hosts: shop.example (31).',
    )
    await rig.text(/94\.3% of the pages/)
    await page.getByRole('button', { name: 'Silence “Anti-bot answers” for one hour' }).first().click()
    await page.getByRole('button', { name: 'End the silence of “Anti-bot answers”' }).first().waitFor()
    await page.getByRole('button', { name: 'Switch off “Redis memory”' }).first().click()
    await page.getByRole('button', { name: 'Switch on “Redis memory”' }).first().waitFor()
    const [rules] = await rig.services.database.pool.query(
      'SELECT kind, enabled, silent_until > UTC_TIMESTAMP(3) AS silent FROM alert_rules ORDER BY kind',
    )
    expect(rules).toEqual([
      { kind: 'blocked', enabled: 1, silent: 1 },
      { kind: 'redis_memory', enabled: 0, silent: null },
    ])
  })

  test('a channel is made, tested, corrected without entering its secret again, and a message is sent once more', async () => {
    const { page, services } = rig
    rig.env.ALERTS_ALLOW_PRIVATE = 'true'
    await rig.endWeb('SIGKILL')
    await rig.startWeb()
    await rig.enter(page, '/alerts')
    await page.getByRole('button', { name: 'Add a channel' }).click()
    const form = page.getByRole('dialog')
    await form.getByLabel('Name').fill('Night watch')
    await form.getByLabel('Address of the webhook').fill(`${receivers.address}/webhook`)
    await form.getByLabel('Signing secret').fill('not the secret of this receiver')
    await form.getByRole('button', { name: 'Save' }).click()
    const send = page.getByRole('button', { name: 'Send a test to “Night watch”' }).first()
    await send.click()
    await rig.text('Answer: HTTP 401: bad signature')

    await page.getByRole('button', { name: 'Edit the channel “Night watch”' }).first().click()
    expect(await form.getByLabel('Address of the webhook').inputValue()).toBe('')
    expect(await form.getByLabel('Address of the webhook').getAttribute('placeholder')).toBe(
      'Kept; leave empty to keep it',
    )
    await form.getByLabel('Signing secret').fill(SECRET)
    await form.getByRole('button', { name: 'Save' }).click()
    await form.waitFor({ state: 'detached' })
    await send.click()
    await rig.text(/^Taken after/)
    const [first] = receivers.taken.splice(0).slice(-1)
    expect(await page.content()).not.toContain(SECRET)

    await page
      .getByRole('button', { name: /^Send message \d+ again$/ })
      .first()
      .click()
    await rig.text('Waiting')
    setEnv({ AUTH_SECRET: rig.env.AUTH_SECRET!, ALERTS_ALLOW_PRIVATE: 'true' })
    await deliver(services, () => true)
    expect(receivers.taken).toHaveLength(1)
    expect(receivers.taken[0]!.headers['x-orbweaver-id']).toBe(first!.headers['x-orbweaver-id'])

    await page.getByRole('button', { name: 'Edit “Success rate”' }).first().click()
    await form.getByLabel('Fires when the figure falls below').fill('90')
    await form.getByText('Only these').click()
    await form.getByRole('combobox', { name: 'Only these' }).click()
    await page.getByRole('option', { name: 'Night watch' }).click()
    await page.keyboard.press('Tab')
    await form.getByRole('button', { name: 'Save' }).click()
    await rig.text('falls below 90%')
    const [rules] = await services.database.pool.query(
      "SELECT r.threshold, r.channels = JSON_ARRAY(c.id) AS told FROM alert_rules r JOIN alert_channels c WHERE r.kind = 'success_rate'",
    )
    expect(rules).toEqual([{ threshold: 0.9, told: 1 }])

    await page.getByRole('button', { name: 'Delete the channel “Night watch”' }).first().click()
    await form.getByRole('button', { name: 'Delete' }).click()
    await rig.text('No channel yet: alerts are seen on this page alone. Add one to be told elsewhere.')
  })

  test('in Chinese, on a telephone, the page fits and says the same', async () => {
    const telephone = await rig.open({ locale: 'zh-CN', width: 390, colorScheme: 'dark' })
    await rig.enter(telephone, '/alerts')
    await telephone
      .getByText('最近 60 分钟有 31 个页面被反爬机制拒绝，阈值为 20。主机：shop.example (31)。')
      .last()
      .waitFor()
    await telephone.getByRole('link', { name: '1 条告警' }).waitFor()
    await telephone.getByRole('button', { name: '添加渠道' }).click()
    const form = telephone.getByRole('dialog')
    await form.getByRole('combobox', { name: '类型' }).click()
    await telephone.getByRole('option', { name: '钉钉' }).click()
    await form.getByLabel('名称').fill('值班群')
    await form.getByLabel('Webhook 地址').fill(`${receivers.address}/dingtalk?access_token=abc`)
    await form.getByLabel('签名密钥（可选）').fill(SECRET)
    await form.getByRole('button', { name: '保存' }).click()
    await telephone.getByRole('button', { name: '向“值班群”发送测试消息' }).last().click()
    await telephone
      .getByText(/^已被接收/)
      .last()
      .waitFor()
    expect(receivers.taken.at(-1)!.body).toContain('Orbweaver')
    expect(await telephone.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
    const menu = await telephone.getByRole('button', { name: '我的账号' }).last().boundingBox()
    expect(menu!.x + menu!.width).toBeLessThanOrEqual(390)
    await telephone.context().close()
  })
})
