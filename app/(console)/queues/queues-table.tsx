'use client'

import { Group, Stack, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import type { QueueNow } from '../../../server/api/overview'
import type { QueueView } from '../../../server/api/queue-views'
import { useFigures } from '../../figures'
import { Link } from '../../link'
import { ListFrame, ListTable } from '../../list-frame'
import { useLive } from '../../live'
import { QueryState } from '../../query-state'
import { useTRPC } from '../../trpc'
import { QueueActions } from './queue-actions'
import { QueueState } from './queue-state'

const LENGTHS = ['inbox', 'pending', 'running', 'retry', 'failed'] as const

/** A line a queue; the lengths follow Redis by the second. */
export function QueuesTable() {
  const t = useTranslations('queues')
  const trpc = useTRPC()
  const { latest } = useLive()
  const query = useQuery({ ...trpc.queues.list.queryOptions(), refetchInterval: 10_000 })
  const now = (name: string) => latest?.queues.find((one) => one.name === name)
  return (
    <QueryState query={query}>
      {(queues) => (
        <ListFrame
          count={queues.length}
          empty={t('empty')}
          table={
            <ListTable
              heads={
                <>
                  <Table.Th>{t('queue')}</Table.Th>
                  <Table.Th>{t('state')}</Table.Th>
                  {LENGTHS.map((length) => (
                    <Table.Th key={length} ta="right">
                      {t(`lengths.${length}`)}
                    </Table.Th>
                  ))}
                  <Table.Th ta="right">{t('workers')}</Table.Th>
                  <Table.Th>{t('limits')}</Table.Th>
                  <Table.Th aria-label={t('actions')} />
                </>
              }
            >
              {queues.map((queue) => (
                <Row key={queue.name} queue={queue} now={now(queue.name)} />
              ))}
            </ListTable>
          }
          cards={queues.map((queue) => <Card key={queue.name} queue={queue} now={now(queue.name)} />)}
        />
      )}
    </QueryState>
  )
}

function Row({ queue, now }: { queue: QueueView; now: QueueNow | undefined }) {
  const figures = useFigures()
  return (
    <Table.Tr>
      <Table.Td className="name" title={queue.name}>
        <Name queue={queue} />
      </Table.Td>
      <Table.Td>
        <QueueState queue={queue} />
      </Table.Td>
      {LENGTHS.map((length) => (
        <Table.Td
          key={length}
          ta="right"
          c={length === 'failed' && now && now.failed > 0 ? 'var(--mantine-color-red-text)' : undefined}
        >
          {now ? figures.count(now[length]) : '–'}
        </Table.Td>
      ))}
      <Table.Td ta="right" c={queue.workers === 0 ? 'var(--mantine-color-red-text)' : undefined}>
        {figures.count(queue.workers)}
      </Table.Td>
      <Table.Td style={{ whiteSpace: 'nowrap' }}>
        <Limits queue={queue} />
      </Table.Td>
      <Table.Td ta="right">
        <QueueActions queue={queue} size="compact-sm" />
      </Table.Td>
    </Table.Tr>
  )
}

/** The same on a narrow screen. */
function Card({ queue, now }: { queue: QueueView; now: QueueNow | undefined }) {
  const t = useTranslations('queues')
  const figures = useFigures()
  return (
    <Stack className="panel figures" p="sm" gap={6}>
      <Group justify="space-between" gap="xs">
        <Group gap="xs" className="address">
          <Name queue={queue} />
          <QueueState queue={queue} />
        </Group>
        <QueueActions queue={queue} size="compact-sm" />
      </Group>
      <Text size="sm">
        {LENGTHS.map((length) => `${t(`lengths.${length}`)} ${now ? figures.count(now[length]) : '–'}`).join(
          ' · ',
        )}
      </Text>
      <Text size="xs" c="dimmed">
        {t('workersNow', { count: queue.workers })} · <Limits queue={queue} />
      </Text>
    </Stack>
  )
}

function Name({ queue }: { queue: QueueView }) {
  return (
    <Link href={`/queues/${encodeURIComponent(queue.name)}`} strong>
      {queue.name}
    </Link>
  )
}

function Limits({ queue }: { queue: QueueView }) {
  const t = useTranslations('queues')
  const figures = useFigures()
  const delayed = queue.delayMs > 0
  return (
    <>
      {queue.kind === 'render' && `${t('rendered')} · `}
      {t(delayed ? 'limitsDelay' : 'limitsHost', {
        delay: figures.delay(queue.delayMs),
        perHost: figures.count(queue.perHost),
        concurrency: figures.count(queue.concurrency),
      })}
    </>
  )
}
