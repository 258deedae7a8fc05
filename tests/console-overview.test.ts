import { describe, expect, test } from 'vitest'
import { urlHash } from '../core/url'
import { samples } from '../drizzle/schema/fleet'
import { pages } from '../drizzle/schema/pages'
import { listScaleRequests } from '../server/services/scale'
import { consoleRig } from './console-rig'

describe('the overview', { timeout: 120_000 }, () => {
  const rig = consoleRig()

  /** Six minutes of a backlog that grows by 50 a minute. */
  async function growing(): Promise<void> {
    const minute = Math.floor(Date.now() / 60_000) * 60_000
    await rig.services.database.orm.insert(samples).values(
      Array.from({ length: 6 }, (_, ago) => ({
        queue: rig.queue,
        at: new Date(minute - ago * 60_000),
        inbox: 0,
        pending: 1000 - ago * 50,
        running: 16,
        retry: 0,
        dead: 0,
        doneTotal: 1000 - ago * 90,
        failedTotal: 100 - ago * 10,
        ignoredTotal: 0,
        workers: 2,
        restarts: ago === 2 ? 1 : 0,
      })),
    )
  }

  const workers = (running: number) =>
    rig.services.database.pool.query(
      "REPLACE INTO workers (id, kind, queue, hostname, pid, state, running, started_at, heartbeat_at) VALUES ('w1', 'http', ?, 'h', 1, 'running', ?, UTC_TIMESTAMP(3), UTC_TIMESTAMP(3) + INTERVAL 10 MINUTE), ('w2', 'http', ?, 'h', 2, 'running', ?, UTC_TIMESTAMP(3), UTC_TIMESTAMP(3) + INTERVAL 10 MINUTE)",
      [rig.queue, running, rig.queue, running],
    )

  test('a backlog that grows for five minutes offers more workers at one click, if they would help', async () => {
    const { page, services } = rig
    await growing()
    await workers(2)
    await rig.enter(page)
    await rig.text('750 URLs waited 5 minutes ago, 1,000 wait now.')
    // Workers that are idle wait for hosts: more of them would wait too.
    await rig.text('only 12.5% of their places')
    expect(await page.getByRole('button', { name: /^Go from/ }).count()).toBe(0)
    await workers(16)
    await page.getByRole('button', { name: 'Go from 2 to 3 workers' }).click()
    await rig.text('3 workers are asked for.')
    expect(await listScaleRequests(services, { queue: rig.queue, limit: 1 })).toMatchObject([
      { previous: 2, wanted: 3, reason: 'The backlog had grown for 5 minutes.', state: 'waiting' },
    ])
    await page.getByRole('link', { name: 'Follow the request' }).click()
    await page.getByRole('cell', { name: '2 → 3' }).waitFor()
  })

  test('failures are told by class and host, restarts with their reason', async () => {
    const { page, services } = rig
    const run = await rig.aRun()
    await services.database.pool.query("UPDATE runs SET state = 'running' WHERE id = ?", [run])
    await services.database.orm.insert(pages).values(
      Array.from({ length: 12 }, (_, n) => {
        const url = `https://${n < 8 ? 'slow.test' : 'shop.test'}/${n}`
        return {
          runId: run,
          urlHash: urlHash(url),
          url,
          state: 'failed' as const,
          reason: n < 8 ? 'timeout_total' : 'dns',
          depth: 1,
          attempts: 3,
          deliveries: 1,
          items: 0,
          token: '1.1',
          fetchedAt: new Date(),
        }
      }),
    )
    await services.database.pool.query(
      "INSERT INTO worker_events (worker_id, queue, kind, detail, at) VALUES ('w9', ?, 'oom', 'used 512 MB of 512 MB', UTC_TIMESTAMP(3))",
      [rig.queue],
    )
    await rig.enter(page)
    const failures = page.getByRole('region', { name: 'Failures of the last hour' })
    await failures
      .getByRole('row', { name: /^The page took longer than allowed, redirects included. 8$/ })
      .waitFor()
    await failures.getByRole('row', { name: /^slow\.test .* 8$/ }).waitFor()
    await failures.getByRole('row', { name: /^shop\.test .* 4$/ }).waitFor()
    await page
      .getByRole('region', { name: 'Last restarts of workers' })
      .getByText('used 512 MB of 512 MB')
      .waitFor()
    await page.getByRole('link', { name: 'Worker restarts, 24 h' }).click()
    await page.getByRole('cell', { name: 'used 512 MB of 512 MB' }).waitFor()
  })

  test('in Chinese, on a telephone, the page fits and says the same', async () => {
    const telephone = await rig.open({ locale: 'zh-CN', width: 390, colorScheme: 'dark' })
    await rig.enter(telephone)
    await telephone.getByRole('heading', { name: '概览' }).waitFor()
    await telephone.getByText('近 1 小时的失败').waitFor()
    await telephone.getByText('成功率', { exact: false }).first().waitFor()
    expect(await telephone.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
    await telephone.context().close()
  })
})
