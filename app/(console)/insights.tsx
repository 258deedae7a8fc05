'use client'

import { Alert, Button, Group, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import type { ReactNode } from 'react'
import type { Growth } from '../../server/services/insights'
import { useFigures } from '../figures'
import { WarningIcon } from '../icons'
import { Link } from '../link'
import { HEALTHY, useLive } from '../live'
import { Lines, MutationError, QueryState } from '../query-state'
import { Tag } from '../tag'
import { useTRPC } from '../trpc'
import { useMayChange } from './may-change'
import { useReason } from './runs/[id]/reason'
import { useScale } from './workers/use-scale'

/** What stands behind a figure that is not as it should be, and what can be done about it with one click. */
export function Insights() {
  const trpc = useTRPC()
  const growth = useQuery({ ...trpc.samples.growth.queryOptions(), refetchInterval: 10_000 })
  return (
    <>
      {growth.data?.map((one) => (
        <Growing key={one.queue} growth={one} />
      ))}
      <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="sm" style={{ alignItems: 'start' }}>
        <Failures />
        <Restarts />
      </SimpleGrid>
    </>
  )
}

function Growing({ growth }: { growth: Growth }) {
  const t = useTranslations('insights')
  const figures = useFigures()
  const mayChange = useMayChange()
  const scale = useScale()
  const { queue, suggested } = growth
  return (
    <Alert color="orange" variant="light" icon={<WarningIcon />} title={t('grows', { queue })} role="status">
      <Stack gap="sm" align="flex-start">
        <Text size="sm">
          {t('growsBy', { from: figures.count(growth.from), to: figures.count(growth.to) })}{' '}
          {suggested === null
            ? t('hostsLimit', { load: figures.percent(growth.load) })
            : t('workersLimit', { workers: growth.workers })}
        </Text>
        {scale.data ? (
          <Text size="sm" fw={600} role="status">
            {t('asked', { wanted: scale.data.wanted })} <Link href="/workers">{t('follow')}</Link>
          </Text>
        ) : (
          <Group gap="sm">
            {suggested !== null && mayChange && (
              <Button
                size="xs"
                loading={scale.isPending}
                onClick={() => scale.mutate({ queue, wanted: suggested, reason: t('reason') })}
              >
                {t('ask', { from: growth.workers, to: suggested })}
              </Button>
            )}
            <Link href={suggested === null ? `/queues/${encodeURIComponent(queue)}` : '/workers'}>
              {t(suggested === null ? 'limits' : 'otherNumber')}
            </Link>
          </Group>
        )}
        <MutationError error={scale.error} />
      </Stack>
    </Alert>
  )
}

/** Error classes and hosts of the last hour's failures, told whenever there are any. */
function Failures() {
  const t = useTranslations('insights')
  const trpc = useTRPC()
  const figures = useFigures()
  const reason = useReason()
  const { latest } = useLive()
  const query = useQuery({ ...trpc.samples.failures.queryOptions(), refetchInterval: 10_000 })
  const unhealthy = latest?.successRate != null && latest.successRate < HEALTHY
  return (
    <Stack className="panel" p="md" gap="sm" component="section" aria-labelledby="failures">
      <Group justify="space-between" gap="xs">
        <Title order={2} size="h5" id="failures">
          {t('failures')}
        </Title>
        {unhealthy && <Tag color="red">{t('below')}</Tag>}
      </Group>
      <QueryState query={query} skeleton={<Lines count={2} height={18} />}>
        {(data) =>
          data.total === 0 ? (
            <Text size="sm" c="dimmed">
              {t('noFailures')}
            </Text>
          ) : (
            <Stack gap="sm">
              <Facts>
                {data.reasons.map((one) => (
                  <Table.Tr key={one.reason}>
                    <Table.Td className="address">{reason(one)}</Table.Td>
                    <Table.Td ta="right" fw={600} pl="sm">
                      {figures.count(one.count)}
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Facts>
              <Text size="xs" c="dimmed" fw={600}>
                {t('hosts')}
              </Text>
              <Facts>
                {data.hosts.map((one) => (
                  <Table.Tr key={one.host}>
                    <Table.Td className="address">
                      {one.host}
                      <Text size="xs" c="dimmed">
                        {reason({ reason: one.reason, detail: null })}
                      </Text>
                    </Table.Td>
                    <Table.Td ta="right" fw={600} pl="sm">
                      {figures.count(one.count)}
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Facts>
              {data.run !== null && (
                <Link href={`/runs/${data.run}`}>{t('toRun', { run: String(data.run) })}</Link>
              )}
            </Stack>
          )
        }
      </QueryState>
    </Stack>
  )
}

/** The newest restarts of a day with any. */
function Restarts() {
  const t = useTranslations('insights')
  const kinds = useTranslations('workerEvents')
  const trpc = useTRPC()
  const figures = useFigures()
  const { latest } = useLive()
  const query = useQuery({
    ...trpc.workers.events.queryOptions({ restartsOnly: true, limit: 5 }),
    refetchInterval: 10_000,
  })
  const none = latest?.restarts === 0
  return (
    <Stack className="panel" p="md" gap="sm" component="section" aria-labelledby="last-restarts">
      <Title order={2} size="h5" id="last-restarts">
        {t('restarts')}
      </Title>
      <QueryState query={query} skeleton={<Lines count={2} height={18} />}>
        {({ events }) =>
          none || events.length === 0 ? (
            <Text size="sm" c="dimmed">
              {t('noRestarts')}
            </Text>
          ) : (
            <Facts>
              {events.map((event) => (
                <Table.Tr key={event.id}>
                  <Table.Td className="address">
                    {kinds(`kinds.${event.kind}`)} · {event.workerId}
                    <Text size="xs" c="dimmed">
                      {event.detail === 'no heartbeat' ? kinds('silent') : event.detail}
                    </Text>
                  </Table.Td>
                  <Table.Td ta="right" pl="sm" style={{ whiteSpace: 'nowrap' }} c="dimmed">
                    {figures.moment(event.at)}
                  </Table.Td>
                </Table.Tr>
              ))}
            </Facts>
          )
        }
      </QueryState>
      <Link href="/workers#restarts">{t('toWorkers')}</Link>
    </Stack>
  )
}

/** Lines of words and a figure, close together. */
function Facts({ children }: { children: ReactNode }) {
  return (
    <Table fz="sm" className="figures" verticalSpacing={4} horizontalSpacing={0} withRowBorders={false}>
      <Table.Tbody>{children}</Table.Tbody>
    </Table>
  )
}
