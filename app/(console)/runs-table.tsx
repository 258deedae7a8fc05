'use client'

import { Group, Stack, Table, Text, Title } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import type { RunView } from '../../server/api/run-views'
import { useFigures } from '../figures'
import { KeysetPager, useKeyset } from '../keyset-pager'
import { Link } from '../link'
import { ListFrame, ListTable } from '../list-frame'
import { Lines, QueryState } from '../query-state'
import { RunProgress } from '../run-progress'
import { isOver, RunState } from '../run-state'
import { useTRPC } from '../trpc'
import { CancelRun } from './cancel-run'

const PAGE = 20
/** On the overview, where the whole list is a click away. */
const BRIEF = 5

/** Runs, newest first; read again every two seconds while one is under way. */
export function RunsTable({ brief = false }: { brief?: boolean }) {
  const t = useTranslations('runs')
  const trpc = useTRPC()
  const keyset = useKeyset<number>()
  const query = useQuery({
    ...trpc.runs.list.queryOptions({
      limit: brief ? BRIEF : PAGE,
      ...(keyset.cursor && { cursor: keyset.cursor }),
    }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.runs.some((run) => !isOver(run.state)) ? 2_000 : 10_000),
  })
  return (
    <section aria-labelledby="runs-title">
      <Title order={2} size="h5" id="runs-title" mb="sm">
        {t(brief ? 'newest' : 'list')}
      </Title>
      <QueryState query={query} skeleton={<Lines />}>
        {({ runs, next }) => (
          <ListFrame
            count={runs.length}
            empty={t('empty')}
            table={<WideTable runs={runs} />}
            cards={runs.map((run) => <RunCard key={run.id} run={run} />)}
          >
            {brief ? <Link href="/runs">{t('toAll')}</Link> : <KeysetPager keyset={keyset} next={next} />}
          </ListFrame>
        )}
      </QueryState>
    </section>
  )
}

function WideTable({ runs }: { runs: RunView[] }) {
  const t = useTranslations('runs')
  const state = useTranslations('state')
  const figures = useFigures()
  return (
    <ListTable
      heads={
        <>
          <Table.Th>{t('run')}</Table.Th>
          <Table.Th>{t('state')}</Table.Th>
          <Table.Th>{t('spider')}</Table.Th>
          <Table.Th>{t('queue')}</Table.Th>
          <Table.Th>{t('started')}</Table.Th>
          <Table.Th ta="right">{state('done')}</Table.Th>
          <Table.Th ta="right">{state('failed')}</Table.Th>
          <Table.Th ta="right">{state('ignored')}</Table.Th>
          <Table.Th ta="right">{t('items')}</Table.Th>
          <Table.Th miw={72}>{t('progress')}</Table.Th>
          <Table.Th ta="right">{t('pagesPerSecond')}</Table.Th>
          <Table.Th aria-label={t('actions')} />
        </>
      }
    >
      {runs.map((run) => (
        <Table.Tr key={run.id}>
          <Table.Td className="name">
            <RunLink id={run.id} />
          </Table.Td>
          <Table.Td>
            <RunState state={run.state} />
          </Table.Td>
          <Table.Td className="name" title={run.spider}>
            {run.spider}
          </Table.Td>
          <Table.Td className="name" title={run.queue}>
            {run.queue}
          </Table.Td>
          <Table.Td style={{ whiteSpace: 'nowrap' }}>{figures.moment(run.createdAt)}</Table.Td>
          <Table.Td ta="right">{figures.count(run.counts.done)}</Table.Td>
          <Table.Td ta="right" c={run.counts.failed > 0 ? 'var(--mantine-color-red-text)' : undefined}>
            {figures.count(run.counts.failed)}
          </Table.Td>
          <Table.Td ta="right">{figures.count(run.counts.ignored)}</Table.Td>
          <Table.Td ta="right">{figures.count(run.items)}</Table.Td>
          <Table.Td>
            <RunProgress run={run} />
          </Table.Td>
          <Table.Td ta="right">{figures.rate(run.pagesPerSecond)}</Table.Td>
          <Table.Td ta="right">
            <CancelRun run={run} />
          </Table.Td>
        </Table.Tr>
      ))}
    </ListTable>
  )
}

/** The same on a narrow screen. */
function RunCard({ run }: { run: RunView }) {
  const t = useTranslations('runs')
  const figures = useFigures()
  return (
    <Stack className="panel figures" p="sm" gap={6}>
      <Group justify="space-between" wrap="nowrap">
        <Group gap="xs">
          <RunLink id={run.id} />
          <RunState state={run.state} />
        </Group>
        <CancelRun run={run} />
      </Group>
      <Text size="xs" c="dimmed" className="address">
        {run.spider} · {run.queue} · {figures.moment(run.createdAt)}
      </Text>
      <RunProgress run={run} />
      <Text size="xs">
        {t('summary', {
          done: figures.count(run.counts.done),
          failed: figures.count(run.counts.failed),
          ignored: figures.count(run.counts.ignored),
          items: figures.count(run.items),
          rate: figures.rate(run.pagesPerSecond),
        })}
      </Text>
    </Stack>
  )
}

function RunLink({ id }: { id: number }) {
  const t = useTranslations('runs')
  return (
    <Link href={`/runs/${id}`} strong>
      {t('number', { id: String(id) })}
    </Link>
  )
}
