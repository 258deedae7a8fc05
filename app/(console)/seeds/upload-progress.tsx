'use client'

import { Button, Group, Progress, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import { useFigures } from '../../figures'
import { useTRPC } from '../../trpc'
import type { Sending } from './use-upload'

/** How much has been sent, and what the server says of the rows it has read so far. */
export function UploadProgress({
  spider,
  sending,
  cancel,
}: {
  spider: number
  sending: Sending
  cancel: () => void
}) {
  const t = useTranslations('upload')
  const figures = useFigures()
  const trpc = useTRPC()
  const { data } = useQuery({
    ...trpc.seeds.imports.queryOptions({ spider, limit: 10 }),
    refetchInterval: 1_000,
  })
  const now = data?.find((one) => one.state === 'running' && one.fileName === sending.fileName)
  const percent = sending.size > 0 ? Math.floor((sending.sent / sending.size) * 100) : 100
  return (
    <Stack gap="sm">
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Title order={2} size="h5" className="address">
          {t('title', { file: sending.fileName })}
        </Title>
        <Button size="xs" variant="default" onClick={cancel}>
          {t('cancel')}
        </Button>
      </Group>
      <Progress value={percent} animated size="lg" aria-label={t('title', { file: sending.fileName })} />
      <Text size="sm" c="dimmed" className="figures" role="status">
        {sending.sent < sending.size
          ? t('sent', {
              sent: figures.bytes(sending.sent),
              size: figures.bytes(sending.size),
              percent: String(percent),
            })
          : t('ending')}
        {now && now.rows > 0 && (
          <>
            {' · '}
            {t('figures', {
              accepted: figures.count(now.accepted),
              duplicates: figures.count(now.duplicates),
              rejected: figures.count(now.rejected),
            })}
          </>
        )}
      </Text>
      <Text size="xs" c="dimmed">
        {t('cancelText')}
      </Text>
    </Stack>
  )
}
