import { Stack } from '@mantine/core'
import type { Metadata } from 'next'
import { getTranslations } from 'next-intl/server'
import { PageTitle } from '../../page-title'
import { Prefetched, prefetch, serverTrpc } from '../../server-caller'
import { NewSpiderLink } from './new-spider-link'
import { SpidersTable } from './spiders-table'

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations('spiders'))('title') }
}

/** All spiders: what each crawls and takes is on its page. */
export default async function SpidersPage() {
  const t = await getTranslations('spiders')
  await prefetch(serverTrpc().spiders.list.queryOptions())
  return (
    <Prefetched>
      <Stack gap="md">
        <PageTitle title={t('title')} text={t('text')}>
          <NewSpiderLink />
        </PageTitle>
        <SpidersTable />
      </Stack>
    </Prefetched>
  )
}
