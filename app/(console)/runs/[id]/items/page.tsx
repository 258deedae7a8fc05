import type { Metadata } from 'next'
import { notFound } from 'next/navigation'
import { getTranslations } from 'next-intl/server'
import { codeOf } from '../../../../query-client'
import { fetchFirst, Prefetched, serverTrpc } from '../../../../server-caller'
import { ItemsPage } from './items-page'

interface Props {
  params: Promise<{ id: string }>
}

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { id } = await params
  return { title: (await getTranslations('items'))('title', { id }) }
}

/** What a run took from its pages, to look through and to take away. */
export default async function Page({ params }: Props) {
  const { id: text } = await params
  const id = /^[1-9]\d{0,14}$/.test(text) ? Number(text) : notFound()
  const error = await fetchFirst(serverTrpc().items.kinds.queryOptions({ run: id }))
  if (codeOf(error) === 'BAD_REQUEST') notFound()
  return (
    <Prefetched>
      <ItemsPage run={id} />
    </Prefetched>
  )
}
