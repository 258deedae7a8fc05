'use client'

import { Box, Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import Link from 'next/link'
import { useTranslations } from 'next-intl'
import { AlertsIcon } from '../../icons'
import { useTRPC } from '../../trpc'

/** In the head of every page while something fires; nothing otherwise. */
export function FiringLink() {
  const t = useTranslations('alerts')
  const trpc = useTRPC()
  const { data } = useQuery({ ...trpc.alerts.firing.queryOptions(), refetchInterval: 10_000 })
  if (!data || data.length === 0) return null
  const words = t('firingNow', { count: data.length })
  return (
    <Button
      component={Link}
      href="/alerts"
      size="compact-sm"
      color="red"
      variant="light"
      aria-label={words}
      leftSection={<AlertsIcon />}
    >
      <Box component="span" visibleFrom="sm">
        {words}
      </Box>
      <Box component="span" hiddenFrom="sm">
        {data.length}
      </Box>
    </Button>
  )
}
