import { Stack } from '@mantine/core'
import type { Metadata } from 'next'
import { getLocale, getTranslations } from 'next-intl/server'
import { PageTitle } from '../../page-title'
import { Prefetched, prefetch, serverTrpc } from '../../server-caller'
import { NewSchedule } from './new-schedule'
import { SCHEDULES_PAGE } from './schedules-page'
import { SchedulesTable } from './schedules-table'

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations('schedules'))('title') }
}

/** All schedules: when each fires next, and what became of its last fire. */
export default async function SchedulesPage() {
  const t = await getTranslations('schedules')
  const language = await getLocale()
  await prefetch(serverTrpc().schedules.list.queryOptions({ limit: SCHEDULES_PAGE, language }))
  return (
    <Prefetched>
      <Stack gap="md">
        <PageTitle title={t('title')} text={t('text')}>
          <NewSchedule />
        </PageTitle>
        <SchedulesTable />
      </Stack>
    </Prefetched>
  )
}
