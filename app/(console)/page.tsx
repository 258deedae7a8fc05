import { Stack } from '@mantine/core'
import type { Metadata } from 'next'
import { getTranslations } from 'next-intl/server'
import { PageTitle } from '../page-title'
import { Prefetched, prefetch, serverTrpc } from '../server-caller'
import { Insights } from './insights'
import { LiveCards } from './live-cards'
import { LiveCharts } from './live-charts'
import { RunsTable } from './runs-table'
import { StartRun } from './start-run'

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations('overview'))('title') }
}

/** What is going on, at a glance; what is behind it where something is wrong; and the newest runs. */
export default async function OverviewPage() {
  const t = await getTranslations('overview')
  const trpc = serverTrpc()
  await prefetch(
    trpc.runs.list.queryOptions({ limit: 5 }),
    trpc.samples.history.queryOptions({ range: '1h' }),
  )
  return (
    <Prefetched>
      <Stack gap="md">
        <PageTitle title={t('title')} text={t('text')} />
        <LiveCards />
        <Insights />
        <StartRun />
        <LiveCharts />
        <RunsTable brief />
      </Stack>
    </Prefetched>
  )
}
