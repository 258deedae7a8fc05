'use client'

import { Alert, Box, Button, Group, SimpleGrid, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import NextLink from 'next/link'
import { useTranslations } from 'next-intl'
import { STATES } from '../../../../core/queue/states'
import type { RunView } from '../../../../server/api/run-views'
import { useFigures } from '../../../figures'
import { WarningIcon } from '../../../icons'
import { Link } from '../../../link'
import { PageTitle } from '../../../page-title'
import { QueryState } from '../../../query-state'
import { RunProgress } from '../../../run-progress'
import { isOver, RunState, STATE_COLOURS } from '../../../run-state'
import { StatCard } from '../../../stat-card'
import { useTRPC } from '../../../trpc'
import { CancelRun } from '../../cancel-run'
import { PagesTable } from './pages-table'
import { Revisits } from './revisits'

export function RunPage({ id }: { id: number }) {
  const t = useTranslations('run')
  const runs = useTranslations('runs')
  const items = useTranslations('items')
  const figures = useFigures()
  const trpc = useTRPC()
  const query = useQuery({
    ...trpc.runs.get.queryOptions({ id }),
    refetchInterval: ({ state }) => (state.data && isOver(state.data.state) ? false : 1_000),
  })
  return (
    <QueryState query={query}>
      {(run) => (
        <Stack gap="md">
          <div>
            <Link href="/runs">{t('back')}</Link>
          </div>
          <PageTitle
            title={
              <Group gap="sm" component="span">
                {runs('number', { id: String(id) })} <RunState state={run.state} />
              </Group>
            }
            text={<Facts run={run} />}
          >
            <Button component={NextLink} href={`/runs/${id}/items`} variant="default">
              {items('link')}
            </Button>
            <CancelRun run={run} size="sm" />
          </PageTitle>
          {run.state === 'cancelling' && (
            <Alert color="orange" variant="light" icon={<WarningIcon />} role="status">
              {run.counts.running > 0
                ? t('cancelling', { running: figures.count(run.counts.running) })
                : t('cancellingLast')}
            </Alert>
          )}
          {run.error && (
            <Alert color="red" variant="light" icon={<WarningIcon />} title={t('failed')}>
              {run.error}
            </Alert>
          )}
          <Counts run={run} />
          <PagesTable run={run} live={!isOver(run.state)} />
        </Stack>
      )}
    </QueryState>
  )
}

function Facts({ run }: { run: RunView }) {
  const t = useTranslations('run')
  const figures = useFigures()
  const lasted = figures.duration((run.finishedAt ?? Date.now()) - run.createdAt)
  return (
    <span className="address">
      {t('facts', {
        spider: run.spider,
        queue: run.queue,
        started: figures.moment(run.createdAt),
        // Where nobody is named, the trigger stands there.
        by: run.startedBy && run.startedBy !== run.trigger ? run.startedBy : t(`trigger.${run.trigger}`),
      })}{' '}
      <span suppressHydrationWarning>{t(run.finishedAt ? 'took' : 'running', { duration: lasted })}</span>
    </span>
  )
}

function Counts({ run }: { run: RunView }) {
  const t = useTranslations('run')
  const state = useTranslations('state')
  const figures = useFigures()
  const { counts } = run
  const shown = STATES.filter((one) => one !== 'cancelled' || counts.cancelled > 0)
  return (
    <Stack gap="sm">
      <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="sm">
        <StatCard label={t('admitted')} value={figures.count(counts.admitted)} detail={t('admittedDetail')} />
        <StatCard
          label={t('open')}
          value={figures.count(counts.pending + counts.running + counts.retry)}
          detail={t('openDetail')}
        />
        <StatCard label={t('items')} value={figures.count(run.items)} detail={t('itemsDetail')} />
        <StatCard
          label={t('speed')}
          value={figures.rate(run.pagesPerSecond)}
          unit={t('pagesPerSecond')}
          detail={t(isOver(run.state) ? 'speedWhole' : 'speedLately')}
        />
      </SimpleGrid>
      <Stack className="panel" p="md" gap="sm">
        <RunProgress run={run} size={12} />
        <Group gap="lg" component="dl" m={0}>
          {shown.map((one) => (
            <Group key={one} gap={6} wrap="nowrap">
              <Box w={10} h={10} bg={`${STATE_COLOURS[one]}.6`} style={{ borderRadius: 3 }} aria-hidden />
              <Text size="sm" c="dimmed" component="dt">
                {state(one)}
              </Text>
              <Text size="sm" fw={600} component="dd" m={0} className="figures">
                {figures.count(counts[one])}
              </Text>
            </Group>
          ))}
        </Group>
        <Revisits id={run.id} live={!isOver(run.state)} />
      </Stack>
    </Stack>
  )
}
