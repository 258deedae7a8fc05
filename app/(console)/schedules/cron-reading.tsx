'use client'

import { Alert, Box, Table, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useLocale, useTranslations } from 'next-intl'
import { useFaultWords } from '../../fault-words'
import { useFigures } from '../../figures'
import { WarningIcon } from '../../icons'
import { Lines } from '../../query-state'
import { useTRPC } from '../../trpc'

/** What an expression says in words, and the next five times it means, in its zone and in UTC: before anything is saved. */
export function CronReading({ cron, zone }: { cron: string; zone: string }) {
  const t = useTranslations('cronReading')
  const language = useLocale()
  const figures = useFigures()
  const words = useFaultWords()
  const trpc = useTRPC()
  const [asked] = useDebouncedValue({ cron: cron.trim(), zone }, 250)
  const preview = useQuery({
    ...trpc.schedules.preview.queryOptions({ ...asked, count: 5, language }),
    enabled: asked.cron !== '',
    placeholderData: keepPreviousData,
    staleTime: 30_000,
    retry: false,
  })
  if (preview.isError)
    return (
      <Alert color="red" variant="light" icon={<WarningIcon />} role="alert" py="xs">
        {words(preview.error)}
      </Alert>
    )
  if (!preview.data) return <Lines count={3} />
  const { reading, fires } = preview.data
  return (
    <Box className="inset" p="sm" aria-live="polite">
      {reading && (
        <Text size="sm" fw={600} mb={4}>
          {t('reading', { reading, zone: asked.zone })}
        </Text>
      )}
      {fires.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t('never')}
        </Text>
      ) : (
        <Table fz="sm" className="figures" verticalSpacing={4} horizontalSpacing="xs" withRowBorders={false}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('next')}</Table.Th>
              <Table.Th>{t('utc')}</Table.Th>
              <Table.Th visibleFrom="sm">{t('in')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {fires.map((at) => (
              <Table.Tr key={at}>
                <Table.Td>{figures.inZone(at, asked.zone)}</Table.Td>
                <Table.Td>{figures.inZone(at, 'UTC')}</Table.Td>
                <Table.Td visibleFrom="sm" suppressHydrationWarning>
                  {figures.duration(Math.max(0, at - Date.now()))}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Box>
  )
}
