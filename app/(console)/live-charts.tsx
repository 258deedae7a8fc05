'use client'

import { Group, SegmentedControl, SimpleGrid, Title } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import { type ReactNode, useState } from 'react'
import type { HistoryPoint, Range } from '../../server/api/history'
import { type LivePoint, useLive } from '../live'
import { QueryState } from '../query-state'
import { useTRPC } from '../trpc'
import { ChartSkeleton, TimeChart } from './time-chart'

const RANGE_MS: Record<Range, number> = { '1h': 3_600_000, '24h': 86_400_000, '30d': 2_592_000_000 }

/** Queue length and throughput: the past from the samples, the last stretch live. */
export function LiveCharts() {
  const t = useTranslations('charts')
  const trpc = useTRPC()
  const [range, setRange] = useState<Range>('1h')
  const { series } = useLive()
  const history = useQuery({
    ...trpc.samples.history.queryOptions({ range }),
    refetchInterval: 60_000,
    placeholderData: keepPreviousData,
  })
  return (
    <section aria-labelledby="charts-title">
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h5" id="charts-title">
          {t('title')}
        </Title>
        <SegmentedControl
          size="xs"
          aria-label={t('range')}
          value={range}
          onChange={(value) => setRange(value as Range)}
          data={(Object.keys(RANGE_MS) as Range[]).map((value) => ({ value, label: t(`ranges.${value}`) }))}
        />
      </Group>
      <QueryState
        query={history}
        skeleton={
          <Grid>
            <ChartSkeleton />
            <ChartSkeleton />
            <ChartSkeleton />
            <ChartSkeleton />
          </Grid>
        }
      >
        {(past) => {
          const points = joined(past, series, range)
          const chart = { points, rangeMs: RANGE_MS[range] }
          // Told once a minute: a rate of one second says nothing of how the crawl goes.
          const minutes = { points: past, rangeMs: RANGE_MS[range] }
          return (
            <Grid>
              <TimeChart
                {...chart}
                title={t('queue')}
                unit={t('urls')}
                lines={[
                  { key: 'backlog', label: t('backlog'), colour: 'blue.6' },
                  { key: 'running', label: t('running'), colour: 'indigo.4' },
                ]}
              />
              <TimeChart
                {...chart}
                title={t('throughput')}
                unit={t('pagesPerSecond')}
                lines={[{ key: 'pagesPerSecond', label: t('pages'), colour: 'teal.6' }]}
              />
              <TimeChart
                {...minutes}
                share
                title={t('success')}
                unit={t('ofEnded')}
                lines={[{ key: 'successRate', label: t('successShare'), colour: 'teal.6' }]}
              />
              <TimeChart
                {...minutes}
                title={t('restarts')}
                unit={t('workers')}
                lines={[{ key: 'restarts', label: t('restarted'), colour: 'orange.6' }]}
              />
            </Grid>
          )
        }}
      </QueryState>
    </section>
  )
}

function Grid({ children }: { children: ReactNode }) {
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="sm">
      {children}
    </SimpleGrid>
  )
}

/** The samples, then what was seen since; in the longer ranges the live part is one last point. */
function joined(past: HistoryPoint[], series: LivePoint[], range: Range): LivePoint[] {
  const live = range === '1h' ? series : series.slice(-1)
  const from = live[0]?.at ?? Number.POSITIVE_INFINITY
  const begin = Date.now() - RANGE_MS[range]
  return [...past.filter((point) => point.at < from), ...live].filter((point) => point.at >= begin)
}
