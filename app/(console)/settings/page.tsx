import type { Metadata } from 'next'
import { getTranslations } from 'next-intl/server'
import { Prefetched, prefetch, serverTrpc } from '../../server-caller'
import { Account } from './account'

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations('settings'))('account') }
}

/** One's own password and sessions. */
export default async function AccountPage() {
  const trpc = serverTrpc()
  await prefetch(trpc.session.list.queryOptions())
  return (
    <Prefetched>
      <Account />
    </Prefetched>
  )
}
