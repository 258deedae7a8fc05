'use client'

import { Group, Stack, Table, Text, Title } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { inferRouterOutputs } from '@trpc/server'
import { useTranslations } from 'next-intl'
import { subjectPath } from '../../../core/alert-text'
import type { AppRouter } from '../../../server/api/root'
import { useFigures } from '../../figures'
import { KeysetPager, useKeyset } from '../../keyset-pager'
import { Link } from '../../link'
import { ListFrame, ListTable } from '../../list-frame'
import { QueryState } from '../../query-state'
import { Tag } from '../../tag'
import { useTRPC } from '../../trpc'
import { useAlertWords } from './alert-words'

type Alert = inferRouterOutputs<AppRouter>['alerts']['history']['alerts'][number]

/** What fires and what fired, newest first. */
export function AlertHistory() {
  const t = useTranslations('alerts')
  const trpc = useTRPC()
  const keyset = useKeyset<number>()
  const query = useQuery({
    ...trpc.alerts.history.queryOptions({ limit: 20, ...(keyset.cursor && { cursor: keyset.cursor }) }),
    placeholderData: keepPreviousData,
    refetchInterval: 5_000,
  })
  return (
    <Stack gap="sm" component="section">
      <Title order={2} size="h5">
        {t('history')}
      </Title>
      <QueryState query={query}>
        {({ alerts, next }) => (
          <ListFrame
            count={alerts.length}
            empty={t('none')}
            table={
              <ListTable
                heads={
                  <>
                    <Table.Th>{t('state')}</Table.Th>
                    <Table.Th>{t('what')}</Table.Th>
                    <Table.Th>{t('since')}</Table.Th>
                    <Table.Th>{t('lasted')}</Table.Th>
                  </>
                }
              >
                {alerts.map((alert) => (
                  <Table.Tr key={alert.id}>
                    <Table.Td>
                      <State alert={alert} />
                    </Table.Td>
                    <Table.Td className="address" w="60%">
                      <What alert={alert} />
                    </Table.Td>
                    <Table.Td style={{ whiteSpace: 'nowrap' }}>
                      <Since alert={alert} />
                    </Table.Td>
                    <Table.Td style={{ whiteSpace: 'nowrap' }}>
                      <Lasted alert={alert} />
                    </Table.Td>
                  </Table.Tr>
                ))}
              </ListTable>
            }
            cards={alerts.map((alert) => (
              <Stack key={alert.id} className="panel figures" p="sm" gap={4}>
                <Group justify="space-between" gap="xs">
                  <State alert={alert} />
                  <Text size="xs" c="dimmed">
                    <Since alert={alert} />
                  </Text>
                </Group>
                <What alert={alert} />
              </Stack>
            ))}
          >
            <KeysetPager keyset={keyset} next={next} />
          </ListFrame>
        )}
      </QueryState>
    </Stack>
  )
}

function State({ alert }: { alert: Alert }) {
  const t = useTranslations('alerts')
  return alert.state === 'firing' ? (
    <Tag color="red">{t('firing')}</Tag>
  ) : (
    <Tag color="gray">{t('resolved')}</Tag>
  )
}

function What({ alert }: { alert: Alert }) {
  const words = useAlertWords()
  return (
    <>
      <Text size="sm" fw={600} component="div">
        {words.rule(alert.rule)} ·{' '}
        <Link href={subjectPath(alert.subject)}>{words.subject(alert.subject)}</Link>
      </Text>
      <Text size="sm" c="dimmed" className="address">
        {words.said(alert)}
      </Text>
    </>
  )
}

function Since({ alert }: { alert: Alert }) {
  return useFigures().moment(alert.startedAt)
}

function Lasted({ alert }: { alert: Alert }) {
  const figures = useFigures()
  return (
    <span suppressHydrationWarning>{figures.duration((alert.endedAt ?? Date.now()) - alert.startedAt)}</span>
  )
}
