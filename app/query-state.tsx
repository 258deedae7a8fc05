'use client'

import { Alert, Button, Group, Skeleton, Stack, Text } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import type { ReactNode } from 'react'
import { type Failure, useFaultWords } from './fault-words'
import { WarningIcon } from './icons'

/**
 * How every query is shown, in one place: a skeleton of the page's own shape while it loads, the error with a way to try
 * again, and old data under a note when the newest could not be had. Changes are shown by `MutationError` below.
 */
export function QueryState<T>({
  query,
  skeleton = <Lines />,
  children,
}: {
  query: UseQueryResult<T, Failure>
  skeleton?: ReactNode
  children: (data: T) => ReactNode
}) {
  const t = useTranslations('query')
  const words = useFaultWords()
  if (query.data === undefined && !query.isError)
    return (
      <div role="status" aria-label={t('loading')}>
        {skeleton}
      </div>
    )
  const retry = (
    <Button size="xs" variant="default" loading={query.isFetching} onClick={() => void query.refetch()}>
      {t('retry')}
    </Button>
  )
  if (query.data === undefined)
    return (
      <Alert color="red" variant="light" title={t('failed')} icon={<WarningIcon />} role="alert">
        <Stack gap="sm" align="flex-start">
          <Text size="sm">{query.error && words(query.error)}</Text>
          {retry}
        </Stack>
      </Alert>
    )
  return (
    <>
      {query.isError && (
        <Alert color="orange" variant="light" mb="sm" icon={<WarningIcon />} role="status">
          <Group justify="space-between" gap="sm">
            <Text size="sm">{t('old', { message: words(query.error) })}</Text>
            {retry}
          </Group>
        </Alert>
      )}
      {children(query.data)}
    </>
  )
}

/** Why a change was refused, below the form or button that asked for it. */
export function MutationError({ error }: { error: Failure | null }) {
  const t = useTranslations('query')
  const words = useFaultWords()
  if (!error) return null
  return (
    <Alert color="red" variant="light" title={t('refused')} icon={<WarningIcon />} role="alert">
      <Text size="sm" className="address">
        {words(error)}
      </Text>
    </Alert>
  )
}

/** The skeleton of a list. */
export function Lines({ count = 5, height = 36 }: { count?: number; height?: number }) {
  return (
    <Stack gap="xs">
      {Array.from({ length: count }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines are all alike and never move
        <Skeleton key={line} height={height} />
      ))}
    </Stack>
  )
}
