import { describe, expect, test } from 'vitest'
import { readHost } from '../core/queue/hosts'
import { seedRuns } from '../server/scheduler/seed-runs'
import { configureQueue, listQueues } from '../server/services/queues'
import { createRun } from '../server/services/runs'
import { ensureDefaultSpider } from '../server/services/spiders'
import { socksProxy } from '../worker/proxy/proxies-fixture'
import { consoleRig } from './console-rig'

describe('the pages of the queues', { timeout: 120_000 }, () => {
  const rig = consoleRig()

  /** A run whose seeds wait in the queue; no worker runs. */
  async function waitingRun(host: string, many: number): Promise<number> {
    const { id: spider } = await ensureDefaultSpider(rig.services)
    const { id } = await createRun(rig.services, {
      spider,
      queue: rig.queue,
      seeds: Array.from({ length: many }, (_, n) => ({ url: `https://${host}/${n}` })),
      trigger: 'manual',
    })
    await seedRuns(rig.services, () => true)
    return id
  }

  const queue = () => rig.services.queue(rig.queue)

  test('from the list into a queue: pause, a limit, a host’s pace and why a URL waits', async () => {
    const { page } = rig
    await configureQueue(rig.services, rig.queue, { delayMs: 60_000 }, 'test')
    await waitingRun('alpha.test', 40)
    await waitingRun('beta.test', 2)
    await rig.enter(page, '/queues')
    await page.getByRole('cell', { name: '42', exact: true }).waitFor()
    await page.getByRole('button', { name: `Pause the queue ${rig.queue}` }).click()
    await page.getByText('Paused', { exact: true }).first().waitFor()
    expect((await queue().lengths()).paused).toBe(true)
    await page.getByRole('link', { name: rig.queue }).first().click()
    await rig.text('nothing more is fetched until it is resumed')

    await page.getByLabel('URL').fill('https://alpha.test/3')
    await page.getByRole('button', { name: 'Ask' }).click()
    await rig.text(/The queue is paused, by .+ since .+GMT\+8/)
    await rig.text('This queue has never had a worker.')
    await page.getByLabel('URL').fill('https://other.test/')
    await page.getByRole('button', { name: 'Ask' }).click()
    await rig.text('outside the spider’s scope')

    const delay = page.getByLabel('Delay between two fetches')
    await delay.fill('2.5')
    await page.getByLabel('At once over all workers').fill('30')
    await page.getByRole('button', { name: 'Apply' }).click()
    await rig.text('In force.')
    await rig.text('about 24 pages a minute')
    const { settings } = await queue().claim({ max: 0, leaseMs: 1, hardMs: 1, settingsVersion: 0 })
    expect(settings).toMatchObject({ delayMs: 2500, maxRunning: 30 })

    await page.getByPlaceholder('Name begins with…').fill('al')
    await page.getByRole('cell', { name: 'beta.test', exact: true }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Change the delay of alpha.test' }).first().click()
    await page.getByLabel('Delay of alpha.test', { exact: true }).fill('10')
    await page.getByRole('dialog').getByRole('button', { name: 'Apply' }).click()
    await page.getByRole('cell', { name: 'Change the delay of alpha.test' }).getByText('10 s').waitFor()
    expect(await readHost(queue(), 'alpha.test')).toMatchObject({ rateMs: 10_000 })

    await queue().slowDown('alpha.test', 0)
    await page.getByRole('cell', { name: 'Change the delay of alpha.test' }).getByText('adapted').waitFor()

    await page.getByRole('button', { name: 'Resume', exact: false }).first().click()
    await page.getByText('Open', { exact: true }).first().waitFor()

    await page.getByRole('switch', { name: 'Quiet hours' }).setChecked(true)
    await page.getByLabel('From', { exact: true }).fill('00:00')
    await page.getByLabel('Until', { exact: true }).fill('23:59')
    await page.getByRole('switch', { name: 'Adapt to each host' }).setChecked(false)
    await page.getByRole('button', { name: 'Apply' }).click()
    await rig.text('This queue has its quiet hours')
    const [quiet] = (await listQueues(rig.services)).filter(({ name }) => name === rig.queue)
    expect(quiet).toMatchObject({ adaptive: false, quiet: { from: '00:00', to: '23:59' } })
    await page.getByRole('switch', { name: 'Quiet hours' }).setChecked(false)
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('Open', { exact: true }).first().waitFor()
  })

  test('proxies are tried as they are added, shown without their secrets, and removed', async () => {
    const { page } = rig
    const proxy = await socksProxy(Number(new URL(rig.address).port))
    await rig.enter(page, `/queues/${encodeURIComponent(rig.queue)}`)
    const panel = page.getByRole('region', { name: 'Proxies' })
    await panel.getByRole('button', { name: 'Add' }).click()
    const dialog = page.getByRole('dialog')
    await dialog
      .getByRole('textbox', { name: 'Proxies' })
      .fill(`${proxy.url}\n${proxy.url.replace('hush', 'wrong')}`)
    await dialog.getByRole('button', { name: 'Try and add' }).click()
    await dialog.getByText('One proxy was added.').waitFor()
    await dialog.getByText(/^Line 2: .*does not serve/).waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).last().click()
    await panel.getByText(`socks5://127.0.0.1:${proxy.port}`).waitFor()
    await panel.getByLabel('Which comes next').selectOption('health')
    await expect
      .poll(async () => (await listQueues(rig.services)).find(({ name }) => name === rig.queue)?.proxies, {
        timeout: 20_000,
      })
      .toBe('health')
    await panel.getByRole('button', { name: /^Remove the proxy/ }).click()
    await panel.getByText('Fetches go directly.').waitFor()
    await proxy.close()
  })

  test('a purge asks for the number, and the queue is empty after it', async () => {
    const { page } = rig
    const run = await waitingRun('gamma.test', 7)
    await rig.services.redis.rpush(rig.queue, 'https://gamma.test/x', 'https://gamma.test/y')
    const { pending, retry, inbox } = await queue().lengths()
    const many = pending + retry + inbox
    await rig.enter(page, `/queues/${encodeURIComponent(rig.queue)}`)
    await page.getByRole('region', { name: 'Pending' }).getByText(String(pending), { exact: true }).waitFor()
    await page.getByRole('button', { name: `More for the queue ${rig.queue}` }).click()
    await page.getByRole('menuitem', { name: 'Purge…' }).click()
    const confirm = page.getByRole('button', { name: `Purge ${many}` })
    expect(await confirm.isDisabled()).toBe(true)
    await page.getByLabel(`Type ${many} to confirm`).fill(String(many - 1))
    expect(await confirm.isDisabled()).toBe(true)
    await page.getByLabel(`Type ${many} to confirm`).fill(String(many))
    await confirm.click()
    await rig.text('2 entries of the inbox went to the rejected list')
    expect(await queue().counts(run)).toMatchObject({ admitted: 7, cancelled: 7, pending: 0 })
    await page.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('region', { name: 'Pending' }).getByText('0', { exact: true }).waitFor()
  })

  test('in Chinese, on a telephone, the pages fit and say the same', async () => {
    await waitingRun('delta.test', 3)
    const telephone = await rig.open({ locale: 'zh-CN', width: 390, colorScheme: 'dark' })
    await rig.enter(telephone, '/queues')
    await telephone.getByRole('heading', { name: '队列' }).waitFor()
    await telephone.getByRole('link', { name: rig.queue }).last().click()
    await telephone.getByRole('heading', { name: '为什么在等待？' }).waitFor()
    await telephone.getByLabel('网址').fill('https://delta.test/1')
    await telephone.getByRole('button', { name: '查询' }).click()
    await telephone.getByText('此队列从未有过工作进程。').waitFor()
    await telephone.getByRole('button', { name: /的更多操作/ }).click()
    await telephone.getByRole('menuitem', { name: /^排空/ }).click()
    await telephone.getByText('排空中', { exact: true }).waitFor()
    expect(await telephone.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
    await telephone.context().close()
  })
})
