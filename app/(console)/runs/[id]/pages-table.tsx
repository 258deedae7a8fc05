'use client'

import { Group, SegmentedControl, Stack, Table, Text, Title } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import type { Counts, OutcomeState } from '../../../../core/queue/states'
import type { PageCursor, PageView } from '../../../../server/api/run-views'
import { useFigures } from '../../../figures'
import { KeysetPager, useKeyset } from '../../../keyset-pager'
import { ListFrame, ListTable } from '../../../list-frame'
import { QueryState } from '../../../query-state'
import { PageState } from '../../../run-state'
import { useTRPC } from '../../../trpc'
import { WebAddress } from '../../../web-address'
import { useReason } from './reason'

const PAGE = 50
const FILTERS = ['all', 'done', 'failed', 'ignored'] as const

/** Pages that ended, newest first. */
export function PagesTable({ id, live, counts }: { id: number; live: boolean; counts: Counts }) {
  const t = useTranslations('pages')
  const trpc = useTRPC()
  const figures = useFigures()
  const [filter, setFilter] = useState<(typeof FILTERS)[number]>('all')
  const keyset = useKeyset<PageCursor>()
  const query = useQuery({
    ...trpc.runs.pages.queryOptions({
      id,
      limit: PAGE,
      ...(filter !== 'all' && { state: filter satisfies OutcomeState }),
      ...(keyset.cursor && { cursor: keyset.cursor }),
    }),
    placeholderData: keepPreviousData,
    // Only the newest page moves.
    refetchInterval: live && keyset.page === 1 ? 2_000 : false,
  })
  const total = { all: counts.done + counts.failed + counts.ignored, ...counts }
  return (
    <section aria-labelledby="pages-title">
      <Group justify="space-between" mb="sm" gap="xs">
        <Title order={2} size="h5" id="pages-title">
          {t('title')}
        </Title>
        <SegmentedControl
          size="xs"
          aria-label={t('filter')}
          value={filter}
          onChange={(value) => {
            setFilter(value as typeof filter)
            keyset.reset()
          }}
          data={FILTERS.map((value) => ({
            value,
            label: t(`filters.${value}`, { count: figures.count(total[value]) }),
          }))}
        />
      </Group>
      <QueryState query={query}>
        {({ pages, next }) => (
          <ListFrame
            count={pages.length}
            empty={t(live ? 'emptyYet' : 'empty')}
            table={<WideTable pages={pages} />}
            cards={pages.map((page) => <PageCard key={page.hash} page={page} />)}
          >
            <KeysetPager keyset={keyset} next={next} />
          </ListFrame>
        )}
      </QueryState>
    </section>
  )
}

function WideTable({ pages }: { pages: PageView[] }) {
  const t = useTranslations('pages')
  const figures = useFigures()
  const reason = useReason()
  return (
    <ListTable
      heads={
        <>
          <Table.Th>{t('state')}</Table.Th>
          <Table.Th>{t('page')}</Table.Th>
          <Table.Th ta="right">{t('depth')}</Table.Th>
          <Table.Th ta="right">{t('attempts')}</Table.Th>
          <Table.Th ta="right">{t('items')}</Table.Th>
          <Table.Th ta="right">{t('size')}</Table.Th>
          <Table.Th ta="right">{t('took')}</Table.Th>
          <Table.Th>{t('ended')}</Table.Th>
        </>
      }
    >
      {pages.map((page) => (
        <Table.Tr key={page.hash}>
          <Table.Td>
            <PageState state={page.state} />
          </Table.Td>
          <Table.Td w="100%">
            <WebAddress url={page.url} />
            <Text size="xs" c="dimmed" className="address" title={page.detail ?? undefined}>
              {reason(page) ?? page.title}
            </Text>
          </Table.Td>
          <Table.Td ta="right">{figures.count(page.depth)}</Table.Td>
          <Table.Td ta="right">{figures.count(page.attempts)}</Table.Td>
          <Table.Td ta="right">{figures.count(page.items)}</Table.Td>
          <Table.Td ta="right" style={{ whiteSpace: 'nowrap' }}>
            {figures.bytes(page.bytes)}
          </Table.Td>
          <Table.Td ta="right" style={{ whiteSpace: 'nowrap' }}>
            {figures.milliseconds(page.ms)}
          </Table.Td>
          <Table.Td style={{ whiteSpace: 'nowrap' }}>{figures.moment(page.fetchedAt)}</Table.Td>
        </Table.Tr>
      ))}
    </ListTable>
  )
}

/** The same on a narrow screen. */
function PageCard({ page }: { page: PageView }) {
  const figures = useFigures()
  const reason = useReason()
  return (
    <Stack className="panel figures" p="sm" gap={4}>
      <Group justify="space-between" gap="xs">
        <PageState state={page.state} />
        <Text size="xs" c="dimmed">
          {figures.moment(page.fetchedAt)}
        </Text>
      </Group>
      <WebAddress url={page.url} />
      <Text size="xs" c="dimmed" className="address">
        {reason(page) ?? page.title}
      </Text>
    </Stack>
  )
}
