import { Stack } from '@mantine/core'
import type { Metadata } from 'next'
import { getTranslations } from 'next-intl/server'
import { PageTitle } from '../../page-title'
import { Prefetched, prefetch, serverTrpc } from '../../server-caller'
import { AlertHistory } from './alert-history'
import { ChannelsTable } from './channels-table'
import { DeliveriesTable } from './deliveries-table'
import { RulesTable } from './rules-table'

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations('alerts'))('title') }
}

/** What goes wrong, what went wrong, what is watched, and who is told. */
export default async function AlertsPage() {
  const t = await getTranslations('alerts')
  const trpc = serverTrpc()
  await prefetch(
    trpc.alerts.history.queryOptions({ limit: 20 }),
    trpc.alerts.rules.queryOptions(),
    trpc.alerts.channels.queryOptions(),
    trpc.alerts.deliveries.queryOptions({ limit: 20 }),
  )
  return (
    <Prefetched>
      <Stack gap="lg">
        <PageTitle title={t('title')} text={t('text')} />
        <AlertHistory />
        <RulesTable />
        <ChannelsTable />
        <DeliveriesTable />
      </Stack>
    </Prefetched>
  )
}
