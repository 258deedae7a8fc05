import { beforeAll, describe, expect, test } from 'vitest'
import { decide } from '../server/scheduler/fire'
import { listSchedules, saveSchedule } from '../server/services/schedules'
import { saveSpider } from '../server/services/spiders'
import { consoleRig } from './console-rig'

describe('the pages of the schedules', { timeout: 120_000 }, () => {
  const rig = consoleRig()
  let spider: number
  beforeAll(async () => {
    if (rig.services)
      ({ id: spider } = await saveSpider(
        rig.services,
        { name: 'shop', seeds: ['https://shop.test/'] },
        'test',
      ))
  })

  const make = (name: string, more: object = {}) =>
    saveSchedule(
      rig.services,
      { name, spider, queue: rig.queue, cron: '0 3 * * *', zone: 'Asia/Shanghai', ...more },
      'test',
    )

  test('a schedule is made with its times in words before it is saved, run by hand, and told what became of it', async () => {
    const { page } = rig
    await rig.enter(page, '/schedules')
    await rig.text('Nothing runs by the clock yet')
    await page.getByRole('link', { name: 'New schedule' }).click()
    await page.getByLabel('Name', { exact: true }).fill('nightly shop')
    await page.getByRole('combobox', { name: 'Spider' }).click()
    await page.getByRole('option', { name: 'shop', exact: true }).click()
    await page.getByLabel('Cron expression').fill('61 * * * *')
    await rig.text('The cron expression “61 * * * *” is not usable')
    await page.getByLabel('Cron expression').fill('30 9 * * 1-5')
    await rig.text('At 09:30, Monday through Friday (Asia/Shanghai)')
    // The same instant in both columns: 09:30 in Shanghai is 01:30 in UTC.
    await page
      .getByRole('row', { name: /09:30 GMT\+8 .+ 01:30 UTC/ })
      .first()
      .waitFor()
    await page.getByLabel('Wait', { exact: true }).check()
    await page.getByRole('button', { name: 'Create the schedule' }).click()
    await page.getByRole('heading', { name: /^nightly shop/ }).waitFor()
    await rig.text('It has not been due yet.')
    const [saved] = await listSchedules(rig.services, { search: 'nightly' })
    expect(saved).toMatchObject({
      cron: '30 9 * * 1-5',
      zone: 'Asia/Shanghai',
      overlap: 'queue',
      missed: 'once',
    })

    await page.getByRole('button', { name: 'More for the schedule nightly shop' }).click()
    await page.getByRole('menuitem', { name: 'Run now' }).click()
    await page.getByRole('heading', { name: /^Run \d+/ }).waitFor()
    await page.goBack()
    await rig.text(/^Started by hand by /)

    // Nobody was there at its time for a month.
    const { services } = rig
    await services.database.pool.query('UPDATE schedules SET missed = ?, decided_until = ? WHERE id = ?', [
      'skip',
      new Date(Date.now() - 20 * 86_400_000),
      saved!.id,
    ])
    await decide(services, saved!.id, new Date(Date.now() - 86_400_000))
    await rig.text('No scheduler was there at that time; missed fires are skipped.')

    await page.getByRole('button', { name: 'More for the schedule nightly shop' }).click()
    await page.getByRole('menuitem', { name: 'Delete…' }).click()
    await page.getByRole('button', { name: 'Delete the schedule' }).click()
    await rig.text('Nothing runs by the clock yet')
  })

  test('all schedules that match a search are paused and resumed together', async () => {
    const { page } = rig
    await make('news a')
    await make('news b')
    await make('weather')
    await rig.enter(page, '/schedules')
    await page.getByPlaceholder('Part of the name…').fill('news')
    await page.getByRole('button', { name: 'Pause these (2)' }).click()
    await page.getByRole('button', { name: 'Pause 2' }).click()
    await page.getByRole('button', { name: 'Resume these (2)' }).waitFor()
    const stopped = await listSchedules(rig.services, { enabled: false })
    expect(stopped.map(({ name }) => name)).toEqual(['news a', 'news b'])
    await page.getByRole('button', { name: 'Resume the schedule news a' }).click()
    await page.getByRole('button', { name: 'Pause these (1)' }).waitFor()
  })

  test('in Chinese, on a telephone, the pages fit and say the same', async () => {
    const { id } = await make('每晚商店')
    const telephone = await rig.open({ locale: 'zh-CN', width: 390, colorScheme: 'dark' })
    await rig.enter(telephone, '/schedules')
    await telephone.getByText('在03:00').last().waitFor()
    expect(await telephone.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
    await rig.enter(telephone, `/schedules/${id}`)
    await telephone.getByText('接下来五次触发').waitFor()
    await telephone.getByRole('button', { name: '暂停定时任务 每晚商店' }).click()
    await telephone.getByText('已暂停').waitFor()
    expect(await telephone.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
    await telephone.context().close()
  })
})
