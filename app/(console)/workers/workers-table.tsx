'use client'

import { Group, Progress, SegmentedControl, Stack, Table, Text, Title } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import type { WorkerCursor, WorkerFilter, WorkerView } from '../../../server/api/worker-views'
import { useFigures } from '../../figures'
import { KeysetPager, useKeyset } from '../../keyset-pager'
import { Link } from '../../link'
import { ListFrame, ListTable } from '../../list-frame'
import { QueryState } from '../../query-state'
import { Tag } from '../../tag'
import { useTRPC } from '../../trpc'

const PAGE = 50
const COLOURS = { running: 'teal', draining: 'blue', stopped: 'gray', lost: 'red' } as const

/** Every worker with its load and memory, as its last heartbeat told. */
export function WorkersTable() {
  const t = useTranslations('workers')
  const trpc = useTRPC()
  const [show, setShow] = useState<WorkerFilter>('alive')
  const keyset = useKeyset<WorkerCursor>()
  const query = useQuery({
    ...trpc.workers.list.queryOptions({
      show,
      limit: PAGE,
      ...(keyset.cursor && { cursor: keyset.cursor }),
    }),
    placeholderData: keepPreviousData,
    refetchInterval: 2_000,
  })
  return (
    <section aria-labelledby="workers-title">
      <Group justify="space-between" mb="sm" gap="xs">
        <Title order={2} size="h5" id="workers-title">
          {t('list')}
        </Title>
        <SegmentedControl
          size="xs"
          aria-label={t('filter')}
          value={show}
          onChange={(value) => {
            setShow(value as WorkerFilter)
            keyset.reset()
          }}
          data={(['alive', 'gone'] as const).map((value) => ({ value, label: t(`filters.${value}`) }))}
        />
      </Group>
      <QueryState query={query}>
        {({ workers, next }) => (
          <ListFrame
            count={workers.length}
            empty={t(show === 'alive' ? 'noneAlive' : 'noneGone')}
            table={<WideTable workers={workers} />}
            cards={workers.map((worker) => <Card key={worker.id} worker={worker} />)}
          >
            <KeysetPager keyset={keyset} next={next} />
          </ListFrame>
        )}
      </QueryState>
    </section>
  )
}

function WideTable({ workers }: { workers: WorkerView[] }) {
  const t = useTranslations('workers')
  const figures = useFigures()
  return (
    <ListTable
      heads={
        <>
          <Table.Th>{t('worker')}</Table.Th>
          <Table.Th>{t('state')}</Table.Th>
          <Table.Th>{t('queue')}</Table.Th>
          <Table.Th miw={120}>{t('load')}</Table.Th>
          <Table.Th ta="right">{t('memory')}</Table.Th>
          <Table.Th ta="right">{t('done')}</Table.Th>
          <Table.Th ta="right">{t('failed')}</Table.Th>
          <Table.Th>{t('heartbeat')}</Table.Th>
          <Table.Th>{t('started')}</Table.Th>
        </>
      }
    >
      {workers.map((worker) => (
        <Table.Tr key={worker.id}>
          <Table.Td className="address" fw={500}>
            {worker.id}
          </Table.Td>
          <Table.Td>
            <WorkerState worker={worker} />
          </Table.Td>
          <Table.Td className="name" title={worker.queue}>
            <Link href={`/queues/${encodeURIComponent(worker.queue)}`}>{worker.queue}</Link>
          </Table.Td>
          <Table.Td>
            <Load worker={worker} />
          </Table.Td>
          <Table.Td ta="right" style={{ whiteSpace: 'nowrap' }}>
            {figures.bytes(worker.rssBytes)}
          </Table.Td>
          <Table.Td ta="right">{figures.count(worker.done)}</Table.Td>
          <Table.Td ta="right" c={worker.failed > 0 ? 'var(--mantine-color-red-text)' : undefined}>
            {figures.count(worker.failed)}
          </Table.Td>
          <Table.Td style={{ whiteSpace: 'nowrap' }}>
            <Heartbeat worker={worker} />
          </Table.Td>
          <Table.Td style={{ whiteSpace: 'nowrap' }}>{figures.moment(worker.startedAt)}</Table.Td>
        </Table.Tr>
      ))}
    </ListTable>
  )
}

/** The same on a narrow screen. */
function Card({ worker }: { worker: WorkerView }) {
  const t = useTranslations('workers')
  const figures = useFigures()
  return (
    <Stack className="panel figures" p="sm" gap={6}>
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={600} className="address">
          {worker.id}
        </Text>
        <WorkerState worker={worker} />
      </Group>
      <Load worker={worker} />
      <Text size="xs" c="dimmed" className="address">
        {t('summary', {
          queue: worker.queue,
          memory: figures.bytes(worker.rssBytes),
          done: figures.count(worker.done),
          failed: figures.count(worker.failed),
        })}
      </Text>
      <Text size="xs" c="dimmed">
        {t('heartbeat')}: <Heartbeat worker={worker} />
      </Text>
    </Stack>
  )
}

function WorkerState({ worker }: { worker: WorkerView }) {
  const t = useTranslations('workers.states')
  return <Tag color={COLOURS[worker.state]}>{t(worker.state)}</Tag>
}

/** How many of its places are taken. */
function Load({ worker }: { worker: WorkerView }) {
  const t = useTranslations('workers')
  const figures = useFigures()
  const { running, concurrency } = worker
  if (concurrency === null) return <>{figures.count(running)}</>
  const share = Math.min(100, (running / concurrency) * 100)
  return (
    <Group gap={8} wrap="nowrap">
      <Progress value={share} flex={1} miw={48} size={6} aria-label={t('load')} />
      <Text size="xs" style={{ whiteSpace: 'nowrap' }}>
        {t('loadOf', { running: figures.count(running), concurrency: figures.count(concurrency) })}
      </Text>
    </Group>
  )
}

function Heartbeat({ worker }: { worker: WorkerView }) {
  const t = useTranslations('workers')
  const figures = useFigures()
  const over = worker.state === 'stopped' || worker.state === 'lost'
  return (
    <span suppressHydrationWarning>
      {over
        ? figures.moment(worker.stoppedAt ?? worker.heartbeatAt)
        : t('ago', { duration: figures.duration(Math.max(0, Date.now() - worker.heartbeatAt)) })}
    </span>
  )
}
