'use client'

import { Button } from '@mantine/core'
import Link from 'next/link'
import { useTranslations } from 'next-intl'
import { useMayChange } from '../may-change'

export function NewSpiderLink() {
  const t = useTranslations('spiders')
  if (!useMayChange()) return null
  return (
    <Button component={Link} href="/spiders/new">
      {t('new')}
    </Button>
  )
}
