import { describe, expect, test } from 'vitest'
import { consoleRig } from './console-rig'

describe('the page of the alerts', { timeout: 120_000 }, () => {
  const rig = consoleRig()

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

  test('in Chinese, on a telephone, the page fits and says the same', async () => {
    const telephone = await rig.open({ locale: 'zh-CN', width: 390, colorScheme: 'dark' })
    await rig.enter(telephone, '/alerts')
    await telephone
      .getByText('最近 60 分钟有 31 个页面被反爬机制拒绝，阈值为 20。主机：shop.example (31)。')
      .last()
      .waitFor()
    await telephone.getByRole('link', { name: '1 条告警' }).waitFor()
    expect(await telephone.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
    const menu = await telephone.getByRole('button', { name: '我的账号' }).last().boundingBox()
    expect(menu!.x + menu!.width).toBeLessThanOrEqual(390)
    await telephone.context().close()
  })
})
