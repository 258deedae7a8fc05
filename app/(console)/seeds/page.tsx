import { Stack } from '@mantine/core'
import type { Metadata } from 'next'
import { getTranslations } from 'next-intl/server'
import { Prefetched, prefetch, serverTrpc } from '../../server-caller'
import { SeedsPage } from './seeds-page'

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations('seeds'))('title') }
}

/** The addresses that each spider's runs begin with. */
export default async function Page({
  searchParams,
}: {
  searchParams: Promise<{ spider?: string | string[] }>
}) {
  const { spider } = await searchParams
  await prefetch(serverTrpc().spiders.list.queryOptions())
  return (
    <Prefetched>
      <Stack gap="md">
        <SeedsPage asked={typeof spider === 'string' ? spider : null} />
      </Stack>
    </Prefetched>
  )
}
