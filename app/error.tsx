'use client'

import { Button } from '@mantine/core'
import { useTranslations } from 'next-intl'
import { NarrowPage } from './narrow-page'

/** When a page could not be made: most often because Redis or the database is away, which passes. */
export default function ErrorPage({
  error,
  reset,
}: {
  error: Error & { digest?: string }
  reset: () => void
}) {
  const t = useTranslations('error')
  return (
    <NarrowPage title={t('title')} text={t('text', { digest: error.digest ?? '–' })}>
      <Button onClick={() => reset()}>{t('retry')}</Button>
    </NarrowPage>
  )
}
