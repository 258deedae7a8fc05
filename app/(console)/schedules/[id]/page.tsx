import type { Metadata } from 'next'
import { notFound } from 'next/navigation'
import { getLocale, getTranslations } from 'next-intl/server'
import { codeOf } from '../../../query-client'
import { fetchFirst, Prefetched, prefetch, serverTrpc } from '../../../server-caller'
import { SchedulePage } from './schedule-page'

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations('schedules'))('title') }
}

/** One schedule: what it says, and what became of each time it was due. */
export default async function Page({ params }: { params: Promise<{ id: string }> }) {
  const { id: text } = await params
  const id = /^[1-9]\d{0,8}$/.test(text) ? Number(text) : notFound()
  const language = await getLocale()
  const trpc = serverTrpc()
  const error = await fetchFirst(trpc.schedules.get.queryOptions({ id, language }))
  if (codeOf(error) === 'NOT_FOUND') notFound()
  await prefetch(
    trpc.schedules.choices.queryOptions(),
    trpc.schedules.fires.queryOptions({ schedule: id, limit: 20 }),
  )
  return (
    <Prefetched>
      <SchedulePage id={id} />
    </Prefetched>
  )
}
