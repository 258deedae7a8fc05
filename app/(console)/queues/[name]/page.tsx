import type { Metadata } from 'next'
import { notFound } from 'next/navigation'
import { codeOf } from '../../../query-client'
import { fetchFirst, Prefetched, prefetch, serverTrpc } from '../../../server-caller'
import { HOSTS_PAGE } from './hosts-page'
import { QueuePage } from './queue-page'

interface Props {
  params: Promise<{ name: string }>
  searchParams: Promise<{ url?: string | string[]; run?: string | string[] }>
}

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  return { title: nameOf((await params).name) }
}

/** One queue: what it holds, its limits, its hosts, and why a URL of it waits. */
export default async function Page({ params, searchParams }: Props) {
  const name = nameOf((await params).name)
  const { url, run } = await searchParams
  const trpc = serverTrpc()
  const error = await fetchFirst(trpc.queues.get.queryOptions({ name }))
  if (codeOf(error) === 'NOT_FOUND') notFound()
  await prefetch(trpc.queues.hosts.queryOptions({ name, limit: HOSTS_PAGE }))
  return (
    <Prefetched>
      <QueuePage
        name={name}
        asked={{
          url: typeof url === 'string' ? url : '',
          run: typeof run === 'string' ? Number(run) || '' : '',
        }}
      />
    </Prefetched>
  )
}

function nameOf(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    notFound()
  }
}
