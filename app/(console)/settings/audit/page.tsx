import type { Metadata } from 'next'
import { getTranslations } from 'next-intl/server'
import { Prefetched, prefetch, serverTrpc } from '../../../server-caller'
import { AuditTable } from './audit-table'

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations('settings'))('audit') }
}

/** Who changed what. */
export default async function AuditPage() {
  const trpc = serverTrpc()
  await prefetch(trpc.changes.list.queryOptions({ limit: 50 }))
  return (
    <Prefetched>
      <AuditTable />
    </Prefetched>
  )
}
