import { Stack } from '@mantine/core'
import type { Metadata } from 'next'
import { getTranslations } from 'next-intl/server'
import { PageTitle } from '../../page-title'
import { Prefetched, prefetch, serverTrpc } from '../../server-caller'
import { QueuesTable } from './queues-table'

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations('queues'))('title') }
}

/** All queues with their lengths of this moment. */
export default async function QueuesPage() {
  const t = await getTranslations('queues')
  await prefetch(serverTrpc().queues.list.queryOptions())
  return (
    <Prefetched>
      <Stack gap="md">
        <PageTitle title={t('title')} text={t('text')} />
        <QueuesTable />
      </Stack>
    </Prefetched>
  )
}
