import { Stack } from '@mantine/core'
import type { Metadata } from 'next'
import { getTranslations } from 'next-intl/server'
import { PageTitle } from '../../page-title'
import { Prefetched, prefetch, serverTrpc } from '../../server-caller'
import { RunsTable } from '../runs-table'
import { StartRun } from '../start-run'

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations('runs'))('title') }
}

/** All runs, under way and past. */
export default async function RunsPage() {
  const t = await getTranslations('runs')
  await prefetch(serverTrpc().runs.list.queryOptions({ limit: 20 }))
  return (
    <Prefetched>
      <Stack gap="md">
        <PageTitle title={t('title')} text={t('text')} />
        <StartRun />
        <RunsTable />
      </Stack>
    </Prefetched>
  )
}
