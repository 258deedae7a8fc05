import type { Metadata } from 'next'
import { notFound } from 'next/navigation'
import { codeOf } from '../../../query-client'
import { fetchFirst, Prefetched, serverTrpc } from '../../../server-caller'
import { SpiderPage } from '../spider-page'

interface Props {
  params: Promise<{ name: string }>
}

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  return { title: nameOf((await params).name) }
}

/** One spider: what it follows and takes, as a form and as text, and what it was before. */
export default async function Page({ params }: Props) {
  const name = nameOf((await params).name)
  const error = await fetchFirst(serverTrpc().spiders.get.queryOptions({ name }))
  if (codeOf(error) === 'NOT_FOUND') notFound()
  return (
    <Prefetched>
      <SpiderPage name={name} />
    </Prefetched>
  )
}

function nameOf(segment: string): string {
  return /^[\w-]{1,64}$/.test(segment) ? segment : notFound()
}
