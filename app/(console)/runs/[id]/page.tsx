import type { Metadata } from 'next'
import { notFound } from 'next/navigation'
import { getTranslations } from 'next-intl/server'
import { codeOf } from '../../../query-client'
import { fetchFirst, Prefetched, serverTrpc } from '../../../server-caller'
import { RunPage } from './run-page'

interface Props {
  params: Promise<{ id: string }>
}

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { id } = await params
  return { title: (await getTranslations('runs'))('number', { id }) }
}

/** One run: how far it is, what became of its pages, and why some failed. */
export default async function Page({ params }: Props) {
  const { id: text } = await params
  const id = /^[1-9]\d{0,14}$/.test(text) ? Number(text) : notFound()
  const error = await fetchFirst(serverTrpc().runs.get.queryOptions({ id }))
  if (codeOf(error) === 'NOT_FOUND') notFound()
  return (
    <Prefetched>
      <RunPage id={id} />
    </Prefetched>
  )
}
