import { Stack } from '@mantine/core'
import type { Metadata } from 'next'
import { getTranslations } from 'next-intl/server'
import { Link } from '../../../link'
import { PageTitle } from '../../../page-title'
import { Prefetched, prefetch, serverTrpc } from '../../../server-caller'
import { ScheduleForm } from '../schedule-form'

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations('schedules'))('new') }
}

export default async function NewSchedulePage() {
  const t = await getTranslations('schedules')
  await prefetch(serverTrpc().schedules.choices.queryOptions())
  return (
    <Prefetched>
      <Stack gap="md">
        <div>
          <Link href="/schedules">{t('back')}</Link>
        </div>
        <PageTitle title={t('new')} text={t('newText')} />
        <Stack className="panel" p="md">
          <ScheduleForm />
        </Stack>
      </Stack>
    </Prefetched>
  )
}
