'use client'

import { SimpleGrid, Skeleton } from '@mantine/core'
import { useTranslations } from 'next-intl'
import { useFigures } from '../figures'
import { HEALTHY, useLive } from '../live'
import { StatCard } from '../stat-card'

export function LiveCards() {
  const t = useTranslations('cards')
  const figures = useFigures()
  const { latest } = useLive()
  const shown = (value: string | null) =>
    value ?? <Skeleton height={28} width={64} my={4} component="span" display="block" />
  const queued = latest?.queues.reduce(
    (sum, queue) => ({
      inbox: sum.inbox + queue.inbox,
      pending: sum.pending + queue.pending,
      retry: sum.retry + queue.retry,
    }),
    { inbox: 0, pending: 0, retry: 0 },
  )
  const unhealthy = latest?.successRate != null && latest.successRate < HEALTHY
  const hour = latest?.lastHour
  return (
    <SimpleGrid cols={{ base: 2, md: 3, lg: 5 }} spacing="sm" className="cards">
      <StatCard
        label={t('backlog')}
        href="/queues"
        value={shown(latest && figures.count(latest.backlog))}
        unit={t('urls')}
        detail={
          queued &&
          t('backlogDetail', {
            inbox: figures.count(queued.inbox),
            pending: figures.count(queued.pending),
            retry: figures.count(queued.retry),
          })
        }
      />
      <StatCard
        label={t('throughput')}
        value={shown(latest && figures.rate(latest.pagesPerSecond))}
        unit={t('pagesPerSecond')}
        detail={latest && t('throughputDetail', { running: figures.count(latest.running) })}
      />
      <StatCard
        label={t('success')}
        href="#failures"
        value={shown(latest && figures.percent(latest.successRate))}
        colour={unhealthy ? 'var(--mantine-color-red-text)' : undefined}
        detail={
          hour &&
          (latest.successRate === null
            ? t('successNone')
            : t('successDetail', {
                failed: figures.count(hour.failed),
                ended: figures.count(hour.done + hour.failed),
              }))
        }
      />
      <StatCard
        label={t('workers')}
        href="/workers"
        value={shown(latest && figures.count(latest.workers))}
        detail={latest && (latest.workers > 0 ? t('workersDetail') : t('workersNone'))}
        colour={latest?.workers === 0 ? 'var(--mantine-color-red-text)' : undefined}
      />
      <StatCard
        label={t('restarts')}
        href="/workers#restarts"
        value={shown(latest && figures.count(latest.restarts))}
        detail={latest && t('restartsDetail', { count: latest.outOfMemory })}
      />
    </SimpleGrid>
  )
}
