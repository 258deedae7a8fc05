'use client'

import { Badge, Group, Loader, Stack, Table, Text } from '@mantine/core'
import type { inferRouterOutputs } from '@trpc/server'
import { useTranslations } from 'next-intl'
import type { AppRouter } from '../../../server/api/root'
import { useFigures } from '../../figures'
import { ListFrame, ListTable } from '../../list-frame'

export type ScaleRequestView = inferRouterOutputs<AppRouter>['scale']['list']['requests'][number]

const COLOURS = {
  waiting: 'blue',
  running: 'indigo',
  done: 'teal',
  failed: 'red',
  superseded: 'gray',
} as const

/** A scaler takes a request within seconds; one that waits longer has none to take it. */
const UNANSWERED_MS = 15_000

/** Who asked for how many workers, when and why, and what became of it. */
export function RequestsTable({ requests }: { requests: ScaleRequestView[] }) {
  const t = useTranslations('scaling')
  const figures = useFigures()
  return (
    <ListFrame
      table={
        <ListTable
          heads={
            <>
              <Table.Th>{t('asked')}</Table.Th>
              <Table.Th>{t('queue')}</Table.Th>
              <Table.Th>{t('change')}</Table.Th>
              <Table.Th>{t('who')}</Table.Th>
              <Table.Th>{t('state')}</Table.Th>
              <Table.Th>{t('result')}</Table.Th>
            </>
          }
        >
          {requests.map((request) => (
            <Table.Tr key={request.id}>
              <Table.Td style={{ whiteSpace: 'nowrap' }}>{figures.moment(request.createdAt)}</Table.Td>
              <Table.Td className="name" title={request.queue}>
                {request.queue}
              </Table.Td>
              <Table.Td style={{ whiteSpace: 'nowrap' }}>
                {t('fromTo', {
                  from: figures.count(request.previous),
                  to: figures.count(request.wanted),
                })}
              </Table.Td>
              <Table.Td className="address">
                {request.author}
                {request.reason && (
                  <Text size="xs" c="dimmed">
                    {request.reason}
                  </Text>
                )}
              </Table.Td>
              <Table.Td>
                <State request={request} />
              </Table.Td>
              <Table.Td className="address" w="30%">
                <Result request={request} />
              </Table.Td>
            </Table.Tr>
          ))}
        </ListTable>
      }
      cards={requests.map((request) => (
        <Stack key={request.id} className="panel figures" p="sm" gap={4}>
          <Group justify="space-between" gap="xs">
            <Text size="sm" fw={600} className="address">
              {request.queue}{' '}
              {t('fromTo', { from: figures.count(request.previous), to: figures.count(request.wanted) })}
            </Text>
            <State request={request} />
          </Group>
          <Text size="xs" c="dimmed" className="address">
            {figures.moment(request.createdAt)} · {request.author}
            {request.reason && ` · ${request.reason}`}
          </Text>
          <Result request={request} />
        </Stack>
      ))}
    />
  )
}

function State({ request }: { request: ScaleRequestView }) {
  const t = useTranslations('scaling.states')
  const open = request.state === 'waiting' || request.state === 'running'
  return (
    <Badge
      color={COLOURS[request.state]}
      variant="light"
      radius="sm"
      tt="none"
      fw={600}
      miw="max-content"
      {...(open && { leftSection: <Loader size={10} color={COLOURS[request.state]} aria-hidden /> })}
    >
      {t(request.state)}
    </Badge>
  )
}

function Result({ request }: { request: ScaleRequestView }) {
  const t = useTranslations('scaling')
  const figures = useFigures()
  const unanswered = request.state === 'waiting' && Date.now() - request.createdAt > UNANSWERED_MS
  if (unanswered)
    return (
      <Text size="sm" c="var(--mantine-color-orange-text)" suppressHydrationWarning>
        {t('unanswered')}
      </Text>
    )
  return (
    <Text size="sm" component="span">
      {request.detail}
      {request.finishedAt !== null && (
        <Text size="xs" c="dimmed" component="span" display="block">
          {t('took', { duration: figures.duration(request.finishedAt - request.createdAt) })}
        </Text>
      )}
    </Text>
  )
}
