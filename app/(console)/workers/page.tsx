import { Stack } from '@mantine/core'
import type { Metadata } from 'next'
import { getTranslations } from 'next-intl/server'
import { PageTitle } from '../../page-title'
import { Prefetched, prefetch, serverTrpc } from '../../server-caller'
import { Scaling } from './scaling'
import { WorkerEvents } from './worker-events'
import { WorkersTable } from './workers-table'

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations('workers'))('title') }
}

/** Who fetches, how many more there should be, and what happened to those that are gone. */
export default async function WorkersPage() {
  const t = await getTranslations('workers')
  const trpc = serverTrpc()
  await prefetch(
    trpc.queues.list.queryOptions(),
    trpc.scale.limits.queryOptions(),
    trpc.scale.list.queryOptions({ limit: 10 }),
    trpc.workers.list.queryOptions({ show: 'alive', limit: 50 }),
    trpc.workers.events.queryOptions({ restartsOnly: true, limit: 20 }),
  )
  return (
    <Prefetched>
      <Stack gap="lg">
        <PageTitle title={t('title')} text={t('text')} />
        <Scaling />
        <WorkersTable />
        <WorkerEvents />
      </Stack>
    </Prefetched>
  )
}
