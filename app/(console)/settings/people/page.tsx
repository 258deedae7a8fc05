import type { Metadata } from 'next'
import { getTranslations } from 'next-intl/server'
import { Prefetched, prefetch, serverTrpc } from '../../../server-caller'
import { PeopleTable } from './people-table'

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations('settings'))('people') }
}

/** Who may use the console. */
export default async function PeoplePage() {
  const trpc = serverTrpc()
  await prefetch(trpc.people.list.queryOptions())
  return (
    <Prefetched>
      <PeopleTable />
    </Prefetched>
  )
}
