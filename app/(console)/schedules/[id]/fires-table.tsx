'use client'

import { Group, Stack, Table, Text, Title } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import type { ScheduleView } from '../../../../server/api/schedule-views'
import { useFigures } from '../../../figures'
import { KeysetPager, useKeyset } from '../../../keyset-pager'
import { ListFrame, ListTable } from '../../../list-frame'
import { QueryState } from '../../../query-state'
import { useTRPC } from '../../../trpc'
import { FireKind, FireRun, useFireReason } from '../fire-result'

const PAGE = 20

/** Every time the schedule was due: fired, queued, skipped or missed, and why. Nothing is left out. */
export function FiresTable({ schedule }: { schedule: ScheduleView }) {
  const t = useTranslations('fires')
  const trpc = useTRPC()
  const figures = useFigures()
  const reason = useFireReason()
  const keyset = useKeyset<number>()
  const query = useQuery({
    ...trpc.schedules.fires.queryOptions({
      schedule: schedule.id,
      limit: PAGE,
      ...(keyset.cursor && { cursor: keyset.cursor }),
    }),
    placeholderData: keepPreviousData,
    refetchInterval: keyset.page === 1 ? 5_000 : false,
  })
  return (
    <section aria-labelledby="fires-title">
      <Title order={2} size="h5" id="fires-title" mb="sm">
        {t('title')}
      </Title>
      <QueryState query={query}>
        {({ fires, next }) => (
          <ListFrame
            count={fires.length}
            empty={t('empty')}
            table={
              <ListTable
                heads={
                  <>
                    <Table.Th>{t('due', { zone: schedule.zone })}</Table.Th>
                    <Table.Th>{t('became')}</Table.Th>
                    <Table.Th>{t('run')}</Table.Th>
                    <Table.Th>{t('why')}</Table.Th>
                  </>
                }
              >
                {fires.map((fire) => (
                  <Table.Tr key={fire.id}>
                    <Table.Td style={{ whiteSpace: 'nowrap' }}>
                      {figures.inZone(fire.fireAt, schedule.zone)}
                    </Table.Td>
                    <Table.Td>
                      <FireKind kind={fire.kind} />
                    </Table.Td>
                    <Table.Td>
                      <FireRun fire={fire} />
                    </Table.Td>
                    <Table.Td className="address">{reason(fire.reason)}</Table.Td>
                  </Table.Tr>
                ))}
              </ListTable>
            }
            cards={fires.map((fire) => (
              <Stack key={fire.id} className="panel figures" p="sm" gap={4}>
                <Group justify="space-between" gap="xs">
                  <FireKind kind={fire.kind} />
                  <Text size="xs" c="dimmed">
                    {figures.inZone(fire.fireAt, schedule.zone)}
                  </Text>
                </Group>
                <FireRun fire={fire} />
                {fire.reason && <Text size="sm">{reason(fire.reason)}</Text>}
              </Stack>
            ))}
          >
            <KeysetPager keyset={keyset} next={next} />
          </ListFrame>
        )}
      </QueryState>
    </section>
  )
}
