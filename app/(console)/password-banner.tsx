'use client'

import { Alert, Button, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import Link from 'next/link'
import { useTranslations } from 'next-intl'
import { PersonIcon } from '../icons'
import { useTRPC } from '../trpc'

/** Shown until the person can come back by themselves: the first administrator enters without a password. */
export function PasswordBanner() {
  const t = useTranslations('passwordBanner')
  const trpc = useTRPC()
  const { data: me } = useQuery(trpc.session.me.queryOptions())
  if (!me || me.hasPassword) return null
  return (
    <Alert color="indigo" variant="light" mb="md" icon={<PersonIcon />}>
      <Group justify="space-between" gap="sm">
        <Text size="sm">{t('text')}</Text>
        <Button component={Link} href="/welcome" size="xs">
          {t('set')}
        </Button>
      </Group>
    </Alert>
  )
}
