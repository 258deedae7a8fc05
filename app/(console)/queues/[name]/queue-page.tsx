'use client'

import { Alert, Group, SimpleGrid, Skeleton, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import { quietUntil } from '../../../../core/quiet-hours'
import type { QueueView } from '../../../../server/api/queue-views'
import { useFigures } from '../../../figures'
import { WarningIcon } from '../../../icons'
import { Link } from '../../../link'
import { useLive } from '../../../live'
import { PageTitle } from '../../../page-title'
import { QueryState } from '../../../query-state'
import { StatCard } from '../../../stat-card'
import { useTRPC } from '../../../trpc'
import { QueueActions } from '../queue-actions'
import { QueueState, useQueueState } from '../queue-state'
import { HostsTable } from './hosts-table'
import { Proxies } from './proxies'
import { SettingsForm } from './settings-form'
import { type Asked, WhyForm } from './why-form'

export function QueuePage({ name, asked }: { name: string; asked: Asked }) {
  const t = useTranslations('queue')
  const trpc = useTRPC()
  const query = useQuery({ ...trpc.queues.get.queryOptions({ name }), refetchInterval: 10_000 })
  return (
    <QueryState query={query}>
      {(queue) => (
        <Stack gap="md">
          <div>
            <Link href="/queues">{t('back')}</Link>
          </div>
          <PageTitle
            title={
              <Group gap="sm" component="span" className="address">
                {queue.name} <QueueState queue={queue} />
              </Group>
            }
            text={t('text', { name: queue.name })}
          >
            <QueueActions queue={queue} size="sm" />
          </PageTitle>
          <Notice queue={queue} />
          <Lengths name={name} />
          <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="sm" style={{ alignItems: 'start' }}>
            <SettingsForm queue={queue} />
            <Stack gap="sm">
              <WhyForm name={name} asked={asked} />
              <Proxies queue={queue} />
            </Stack>
          </SimpleGrid>
          <HostsTable queue={queue} />
        </Stack>
      )}
    </QueryState>
  )
}

/** What a person should know before they wonder why nothing moves. */
function Notice({ queue }: { queue: QueueView }) {
  const t = useTranslations('queue')
  const state = useQueueState(queue)
  const figures = useFigures()
  const text =
    state === 'paused' && queue.heldBy !== null
      ? t('notice.held', { sink: queue.heldBy })
      : state !== 'open'
        ? t(`notice.${state}`, until(queue, figures))
        : queue.workers === 0
          ? t('notice.noWorker')
          : null
  return text ? (
    <Alert
      color={state === 'drained' ? 'gray' : 'orange'}
      variant="light"
      icon={<WarningIcon />}
      role="status"
    >
      {text}
    </Alert>
  ) : null
}

function until({ quiet }: QueueView, figures: ReturnType<typeof useFigures>) {
  const end = quietUntil(quiet, Date.now())
  return { time: end === null ? '' : figures.moment(end) }
}

function Lengths({ name }: { name: string }) {
  const t = useTranslations('queue')
  const figures = useFigures()
  const { latest } = useLive()
  const now = latest?.queues.find((one) => one.name === name)
  return (
    <SimpleGrid cols={{ base: 2, md: 3, lg: 5 }} spacing="sm" className="cards">
      {(['inbox', 'pending', 'running', 'retry', 'failed'] as const).map((length) => (
        <StatCard
          key={length}
          label={t(`lengths.${length}`)}
          value={
            now ? (
              figures.count(now[length])
            ) : (
              <Skeleton height={28} width={64} my={4} component="span" display="block" />
            )
          }
          colour={length === 'failed' && now && now.failed > 0 ? 'var(--mantine-color-red-text)' : undefined}
          detail={t(`lengthsDetail.${length}`, { name })}
        />
      ))}
    </SimpleGrid>
  )
}
