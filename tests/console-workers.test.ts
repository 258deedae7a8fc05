import { describe, expect, test } from 'vitest'
import { listScaleRequests } from '../server/services/scale'
import { listScaleLimits, NO_LIMITS, setScaleLimits } from '../server/services/scale-limits'
import { consoleRig } from './console-rig'

describe('the page of the workers', { timeout: 120_000 }, () => {
  const rig = consoleRig()

  async function aWorker(id: string, state: string, more: { running?: number; silentMinutes?: number } = {}) {
    await rig.services.database.pool.query(
      'INSERT INTO workers (id, kind, queue, hostname, pid, state, running, done, failed, rss_bytes, started_at, heartbeat_at) VALUES (?, ?, ?, ?, ?, ?, ?, 120, 3, 187000000, UTC_TIMESTAMP(3) - INTERVAL 1 HOUR, UTC_TIMESTAMP(3) + INTERVAL ? MINUTE)',
      [id, 'http', rig.queue, 'host', 1, state, more.running ?? 0, -(more.silentMinutes ?? -10)],
    )
  }

  test('workers are asked for with one click, and what became of the request is told as it happens', async () => {
    const { page, services } = rig
    await aWorker('alpha-1-abc', 'running', { running: 4 })
    await aWorker('beta-2-def', 'lost', { silentMinutes: 30 })
    await services.database.pool.query(
      "INSERT INTO worker_events (worker_id, queue, kind, detail, at) VALUES ('beta-2-def', ?, 'lost', 'no heartbeat', UTC_TIMESTAMP(3)), ('alpha-1-abc', ?, 'start', NULL, UTC_TIMESTAMP(3))",
      [rig.queue, rig.queue],
    )
    await rig.enter(page, '/workers')
    await page.getByRole('cell', { name: 'alpha-1-abc' }).waitFor()
    await page.getByText('4 of 16', { exact: true }).first().waitFor()
    await rig.text('No heartbeat came any more.')
    expect(await page.getByRole('cell', { name: 'Started' }).count()).toBe(0)
    await page.getByText('Gone', { exact: true }).click()
    await page.getByRole('cell', { name: 'beta-2-def' }).first().waitFor()

    await page.getByLabel(`Workers wanted on ${rig.queue}`, { exact: true }).fill('5')
    await page.getByPlaceholder('Why (optional)').fill('the morning rush')
    await page.getByRole('button', { name: `Ask for 5 workers on ${rig.queue}` }).click()
    await page.getByRole('cell', { name: '1 → 5' }).waitFor()
    await page.getByRole('cell', { name: /the morning rush/ }).waitFor()
    const [request] = await listScaleRequests(services, { queue: rig.queue, limit: 1 })
    expect(request).toMatchObject({ previous: 1, wanted: 5, state: 'waiting', reason: 'the morning rush' })

    // What the scaler does.
    const { pool } = services.database
    await pool.query("UPDATE scale_requests SET state = 'running', detail = '3 of 5 run' WHERE id = ?", [
      request!.id,
    ])
    await page.getByRole('cell', { name: '3 of 5 run' }).waitFor()
    await pool.query(
      "UPDATE scale_requests SET state = 'done', detail = '5 workers run', finished_at = UTC_TIMESTAMP(3) WHERE id = ?",
      [request!.id],
    )
    await page.getByRole('cell', { name: /5 workers run/ }).waitFor()
    await page.getByRole('cell', { name: 'Done', exact: true }).waitFor()
  })

  test('limits are set on the page, and a request beyond them is refused in the reader’s language', async () => {
    const { page } = rig
    await rig.enter(page, '/workers')
    await page.getByRole('button', { name: `Limits of the workers on ${rig.queue}` }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Most', { exact: true }).fill('6')
    await dialog.getByLabel('Change within a minute').fill('2')
    await dialog.getByRole('switch', { name: 'Ask by itself when work waits' }).press('Space')
    await dialog.getByLabel('More after').fill('90')
    await dialog.getByRole('button', { name: 'Save limits' }).click()
    await rig.text('0 to 6 workers · at most 2 more or fewer a minute · asks by itself')
    const [limits] = await listScaleLimits(rig.services)
    expect(limits).toMatchObject({ fewest: 0, most: 6, perMinute: 2, auto: true, upSeconds: 90 })
    await page.getByLabel(`Workers wanted on ${rig.queue}`, { exact: true }).fill('0')
    await page.getByRole('button', { name: `Ask for 0 workers on ${rig.queue}` }).click()
    await rig.text(/may change by 2 a minute, and 0 would be more than that/)
    await setScaleLimits(rig.services, rig.queue, NO_LIMITS, 'test')
  })

  test('in Chinese, on a telephone, the page fits and says the same', async () => {
    const telephone = await rig.open({ locale: 'zh-CN', width: 390, colorScheme: 'dark' })
    await rig.enter(telephone, '/workers')
    await telephone.getByRole('heading', { name: '期望的工作进程数' }).waitFor()
    await telephone.getByLabel(`${rig.queue} 期望的工作进程数`, { exact: true }).fill('2')
    await telephone.getByRole('button', { name: `为 ${rig.queue} 请求 2 个工作进程` }).click()
    await telephone.getByText(/1 → 2/).last().waitFor()
    await telephone.getByText('等待中', { exact: true }).last().waitFor()
    expect(await telephone.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
    await telephone.context().close()
  })
})
