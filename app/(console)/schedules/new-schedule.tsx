'use client'

import { Button } from '@mantine/core'
import Link from 'next/link'
import { useTranslations } from 'next-intl'
import { PlusIcon } from '../../icons'
import { useMayChange } from '../may-change'

export function NewSchedule() {
  const t = useTranslations('schedules')
  if (!useMayChange()) return null
  return (
    <Button component={Link} href="/schedules/new" leftSection={<PlusIcon />}>
      {t('new')}
    </Button>
  )
}
