import type { Metadata } from 'next'
import { getTranslations } from 'next-intl/server'
import { Prefetched, prefetch, serverTrpc } from '../../../server-caller'
import { KeysTable } from './keys-table'

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations('settings'))('keys') }
}

/** Keys of programs. */
export default async function KeysPage() {
  const trpc = serverTrpc()
  await prefetch(trpc.keys.list.queryOptions())
  return (
    <Prefetched>
      <KeysTable />
    </Prefetched>
  )
}
