import type { Metadata } from 'next'
import { notFound } from 'next/navigation'
import { getTranslations } from 'next-intl/server'
import { codeOf } from '../../../../../query-client'
import { fetchFirst, Prefetched, serverTrpc } from '../../../../../server-caller'
import { PagePage } from './page-page'

interface Props {
  params: Promise<{ id: string; hash: string }>
}

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { id } = await params
  return { title: (await getTranslations('page'))('title', { id }) }
}

/** One page of a run: what came of it, what it led to and from where, and why it is where it is. */
export default async function Page({ params }: Props) {
  const { id: text, hash } = await params
  const id = /^[1-9]\d{0,14}$/.test(text) ? Number(text) : notFound()
  if (!/^[0-9a-f]{64}$/.test(hash)) notFound()
  const error = await fetchFirst(serverTrpc().runs.page.queryOptions({ id, hash }))
  if (['NOT_FOUND', 'BAD_REQUEST'].includes(codeOf(error) ?? '')) notFound()
  return (
    <Prefetched>
      <PagePage id={id} hash={hash} />
    </Prefetched>
  )
}
