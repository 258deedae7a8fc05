'use client'

import { Group, SegmentedControl, Stack, Table, Text, Title } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import type { WorkerEventView } from '../../../server/api/worker-views'
import { useFigures } from '../../figures'
import { KeysetPager, useKeyset } from '../../keyset-pager'
import { ListFrame, ListTable } from '../../list-frame'
import { QueryState } from '../../query-state'
import { Tag } from '../../tag'
import { useTRPC } from '../../trpc'

const PAGE = 20
const COLOURS = { start: 'teal', stop: 'gray', lost: 'red', restart: 'orange', oom: 'red' } as const

/** What happened to workers, and why: restarts by themselves, or with every start and stop. */
export function WorkerEvents() {
  const t = useTranslations('workerEvents')
  const trpc = useTRPC()
  const figures = useFigures()
  const [show, setShow] = useState<'restarts' | 'all'>('restarts')
  const keyset = useKeyset<number>()
  const query = useQuery({
    ...trpc.workers.events.queryOptions({
      restartsOnly: show === 'restarts',
      limit: PAGE,
      ...(keyset.cursor && { cursor: keyset.cursor }),
    }),
    placeholderData: keepPreviousData,
    refetchInterval: keyset.page === 1 ? 5_000 : false,
  })
  return (
    <section aria-labelledby="restarts">
      <Group justify="space-between" mb="sm" gap="xs">
        <Title order={2} size="h5" id="restarts">
          {t('title')}
        </Title>
        <SegmentedControl
          size="xs"
          aria-label={t('filter')}
          value={show}
          onChange={(value) => {
            setShow(value as typeof show)
            keyset.reset()
          }}
          data={(['restarts', 'all'] as const).map((value) => ({ value, label: t(`filters.${value}`) }))}
        />
      </Group>
      <QueryState query={query}>
        {({ events, next }) => (
          <ListFrame
            count={events.length}
            empty={t('empty')}
            table={
              <ListTable
                heads={
                  <>
                    <Table.Th>{t('at')}</Table.Th>
                    <Table.Th>{t('what')}</Table.Th>
                    <Table.Th>{t('worker')}</Table.Th>
                    <Table.Th>{t('queue')}</Table.Th>
                    <Table.Th>{t('why')}</Table.Th>
                  </>
                }
              >
                {events.map((event) => (
                  <Table.Tr key={event.id}>
                    <Table.Td style={{ whiteSpace: 'nowrap' }}>{figures.moment(event.at)}</Table.Td>
                    <Table.Td>
                      <Kind event={event} />
                    </Table.Td>
                    <Table.Td className="address">{event.workerId}</Table.Td>
                    <Table.Td className="name" title={event.queue}>
                      {event.queue}
                    </Table.Td>
                    <Table.Td className="address" w="35%">
                      <Why event={event} />
                    </Table.Td>
                  </Table.Tr>
                ))}
              </ListTable>
            }
            cards={events.map((event) => (
              <Stack key={event.id} className="panel figures" p="sm" gap={4}>
                <Group justify="space-between" gap="xs">
                  <Kind event={event} />
                  <Text size="xs" c="dimmed">
                    {figures.moment(event.at)}
                  </Text>
                </Group>
                <Text size="sm" className="address">
                  {event.workerId}
                </Text>
                <Text size="xs" c="dimmed" className="address">
                  <Why event={event} />
                </Text>
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

function Kind({ event }: { event: WorkerEventView }) {
  const t = useTranslations('workerEvents.kinds')
  return <Tag color={COLOURS[event.kind]}>{t(event.kind)}</Tag>
}

/** A loss is told in the reader's language; what a process said on its way down stays as it said it. */
function Why({ event }: { event: WorkerEventView }) {
  const t = useTranslations('workerEvents')
  return <>{event.detail === 'no heartbeat' ? t('silent') : event.detail}</>
}
