'use client'

import { Button, Checkbox, Group, SegmentedControl, Stack, Table, Text, Title } from '@mantine/core'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import type { RunView } from '../../../../server/api/run-views'
import type { PageFilter } from '../../../../server/services/page-filter'
import type { PageCursor, PageView } from '../../../../server/services/page-list'
import { useFigures } from '../../../figures'
import { KeysetPager, useKeyset } from '../../../keyset-pager'
import { ListFrame, ListTable } from '../../../list-frame'
import { QueryState } from '../../../query-state'
import { PageState } from '../../../run-state'
import { useMayChange } from '../../may-change'
import { DownloadPages } from './download-pages'
import { FilterBar } from './filter-bar'
import { usePageFilter } from './page-filter'
import { PageLink } from './page-link'
import { useReason } from './reason'
import { RetryPages } from './retry-pages'
import { usePages } from './use-pages'

const STATES = ['all', 'done', 'failed', 'ignored'] as const

/** Pages that ended, newest first, and what to do with those that the filter leaves. */
export function PagesTable({ run, live }: { run: RunView; live: boolean }) {
  const t = useTranslations('pages')
  const figures = useFigures()
  const mayChange = useMayChange()
  const { id, counts } = run
  const [filter, setFilter] = usePageFilter()
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const keyset = useKeyset<PageCursor>()
  const query = usePages({ id, filter, cursor: keyset.cursor, live })
  const change = (next: PageFilter) => {
    setFilter(next)
    keyset.reset()
    setChosen(new Set())
  }
  const { state, ...narrowed } = filter
  const retries = mayChange && (run.state === 'running' || run.state === 'finished')
  const choice: Choice = {
    chosen,
    choose: retries
      ? (hashes, on) =>
          setChosen((before) => {
            const after = new Set(before)
            for (const hash of hashes) on ? after.add(hash) : after.delete(hash)
            return after
          })
      : undefined,
  }
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
          value={state ?? 'all'}
          onChange={(value) =>
            change({ ...filter, state: value === 'all' ? undefined : (value as PageFilter['state']) })
          }
          data={STATES.map((value) => ({
            value,
            label: t(`filters.${value}`, { count: figures.count(total[value]) }),
          }))}
        />
      </Group>
      <FilterBar id={id} live={live} filter={filter} setFilter={change} />
      <Group mb="sm" gap="xs" justify="flex-end">
        {retries && (
          <>
            <RetryPages
              id={id}
              which={{ hashes: [...chosen] }}
              offer={chosen.size > 0}
              done={() => setChosen(new Set())}
            />
            <RetryPages
              id={id}
              which={{ filter: narrowed }}
              offer={(state === undefined || state === 'failed') && counts.failed > 0}
            />
          </>
        )}
        <DownloadPages id={id} filter={filter} />
      </Group>
      <QueryState query={query}>
        {({ pages, next, looked, newestFirst }) => (
          <Stack gap="sm">
            {looked > 0 && (
              <Text size="sm" c="dimmed" role="status" className="figures">
                {t(newestFirst ? 'looked' : 'lookedByKey', {
                  looked: figures.count(looked),
                  total: figures.count(total[state ?? 'all']),
                })}
              </Text>
            )}
            <ListFrame
              count={pages.length}
              empty={t(query.hasNextPage ? 'emptySoFar' : live ? 'emptyYet' : 'empty')}
              table={<WideTable run={id} pages={pages} {...choice} />}
              cards={pages.map((page) => <PageCard key={page.hash} run={id} page={page} {...choice} />)}
            >
              {!query.hasNextPage && (
                <KeysetPager keyset={keyset} next={next} order={newestFirst ? 'time' : 'name'} />
              )}
            </ListFrame>
            {query.hasNextPage && (
              <Group justify="center">
                <Button
                  size="xs"
                  variant="default"
                  loading={query.isFetchingNextPage}
                  onClick={() => void query.fetchNextPage()}
                >
                  {t('further')}
                </Button>
              </Group>
            )}
          </Stack>
        )}
      </QueryState>
    </section>
  )
}

interface Choice {
  chosen: ReadonlySet<string>
  /** Absent where nothing may be tried again. */
  choose: ((hashes: string[], on: boolean) => void) | undefined
}

function WideTable({ run, pages, chosen, choose }: { run: number; pages: PageView[] } & Choice) {
  const t = useTranslations('pages')
  const failed = pages.filter((page) => page.state === 'failed').map((page) => page.hash)
  const count = failed.filter((hash) => chosen.has(hash)).length
  const figures = useFigures()
  const reason = useReason()
  return (
    <ListTable
      heads={
        <>
          {choose && (
            <Table.Th w={36}>
              {failed.length > 0 && (
                <Checkbox
                  size="xs"
                  aria-label={t('chooseAll')}
                  checked={count === failed.length}
                  indeterminate={![0, failed.length].includes(count)}
                  onChange={(event) => choose(failed, event.currentTarget.checked)}
                />
              )}
            </Table.Th>
          )}
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
          {choose && (
            <Table.Td>
              <Choose page={page} chosen={chosen} choose={choose} />
            </Table.Td>
          )}
          <Table.Td>
            <PageState state={page.state} />
          </Table.Td>
          <Table.Td w="100%">
            <PageLink run={run} hash={page.hash} url={page.url} />
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
function PageCard({ run, page, chosen, choose }: { run: number; page: PageView } & Choice) {
  const figures = useFigures()
  const reason = useReason()
  return (
    <Stack className="panel figures" p="sm" gap={4}>
      <Group justify="space-between" gap="xs">
        <Group gap="xs">
          {choose && <Choose page={page} chosen={chosen} choose={choose} />}
          <PageState state={page.state} />
        </Group>
        <Text size="xs" c="dimmed">
          {figures.moment(page.fetchedAt)}
        </Text>
      </Group>
      <PageLink run={run} hash={page.hash} url={page.url} />
      <Text size="xs" c="dimmed" className="address">
        {reason(page) ?? page.title}
      </Text>
    </Stack>
  )
}

function Choose({ page, chosen, choose }: { page: PageView } & Required<Choice>) {
  const t = useTranslations('pages')
  if (page.state !== 'failed') return null
  return (
    <Checkbox
      size="xs"
      aria-label={t('choose', { url: page.url })}
      checked={chosen.has(page.hash)}
      onChange={(event) => choose?.([page.hash], event.currentTarget.checked)}
    />
  )
}
