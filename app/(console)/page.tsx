import { Stack } from '@mantine/core'
import type { Metadata } from 'next'
import { getTranslations } from 'next-intl/server'
import { PageTitle } from '../page-title'
import { Prefetched, prefetch, serverTrpc } from '../server-caller'
import { LiveCards } from './live-cards'
import { LiveCharts } from './live-charts'
import { RunsTable } from './runs-table'
import { StartRun } from './start-run'

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations('runs'))('title') }
}

/** The overview: what is going on, at a glance, and the runs behind it. */
export default async function OverviewPage() {
  const t = await getTranslations('runs')
  const trpc = serverTrpc()
  await prefetch(
    trpc.runs.list.queryOptions({ limit: 20 }),
    trpc.samples.history.queryOptions({ range: '1h' }),
  )
  return (
    <Prefetched>
      <Stack gap="md">
        <PageTitle title={t('title')} text={t('text')} />
        <LiveCards />
        <LiveCharts />
        <StartRun />
        <RunsTable />
      </Stack>
    </Prefetched>
  )
}
