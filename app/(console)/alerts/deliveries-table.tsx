'use client'

import { Button, Group, Stack, Table, Text, Title } from '@mantine/core'
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { inferRouterOutputs } from '@trpc/server'
import { useTranslations } from 'next-intl'
import type { AppRouter } from '../../../server/api/root'
import { useFigures } from '../../figures'
import { KeysetPager, useKeyset } from '../../keyset-pager'
import { ListFrame, ListTable } from '../../list-frame'
import { MutationError, QueryState } from '../../query-state'
import { Tag } from '../../tag'
import { useTRPC } from '../../trpc'
import { useMayChange } from '../may-change'
import { useAlertWords } from './alert-words'

type Delivery = inferRouterOutputs<AppRouter>['alerts']['deliveries']['deliveries'][number]

/** Every message that was or is to be sent, newest first, with what was answered. */
export function DeliveriesTable() {
  const t = useTranslations('deliveries')
  const trpc = useTRPC()
  const keyset = useKeyset<number>()
  const query = useQuery({
    ...trpc.alerts.deliveries.queryOptions({ limit: 20, ...(keyset.cursor && { cursor: keyset.cursor }) }),
    placeholderData: keepPreviousData,
    refetchInterval: 5_000,
  })
  return (
    <Stack gap="sm" component="section">
      <Title order={2} size="h5">
        {t('title')}
      </Title>
      <QueryState query={query}>
        {({ deliveries, next }) => (
          <ListFrame
            count={deliveries.length}
            empty={t('none')}
            table={
              <ListTable
                heads={
                  <>
                    <Table.Th>{t('state')}</Table.Th>
                    <Table.Th>{t('message')}</Table.Th>
                    <Table.Th>{t('channel')}</Table.Th>
                    <Table.Th>{t('answer')}</Table.Th>
                    <Table.Th aria-label={t('actions')} />
                  </>
                }
              >
                {deliveries.map((delivery) => (
                  <Table.Tr key={delivery.id}>
                    <Table.Td>
                      <State delivery={delivery} />
                    </Table.Td>
                    <Table.Td>
                      <Message delivery={delivery} />
                    </Table.Td>
                    <Table.Td className="address">{delivery.channel ?? t('gone')}</Table.Td>
                    <Table.Td className="address" w="40%">
                      <Answer delivery={delivery} />
                    </Table.Td>
                    <Table.Td>
                      <Replay delivery={delivery} />
                    </Table.Td>
                  </Table.Tr>
                ))}
              </ListTable>
            }
            cards={deliveries.map((delivery) => (
              <Stack key={delivery.id} className="panel figures" p="sm" gap={6}>
                <Group justify="space-between" gap="xs">
                  <State delivery={delivery} />
                  <Text size="sm" className="address">
                    {delivery.channel ?? t('gone')}
                  </Text>
                </Group>
                <Message delivery={delivery} />
                <Answer delivery={delivery} />
                <Replay delivery={delivery} />
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

const COLOURS = { waiting: 'blue', sending: 'indigo', sent: 'teal', dead: 'red' } as const

function State({ delivery: { state } }: { delivery: Delivery }) {
  const t = useTranslations('deliveries')
  return <Tag color={COLOURS[state]}>{t(`states.${state}`)}</Tag>
}

function Message({ delivery }: { delivery: Delivery }) {
  const t = useTranslations('deliveries')
  const figures = useFigures()
  const words = useAlertWords()
  const event = t(`events.${delivery.event}`)
  return (
    <>
      <Text size="sm">
        {delivery.rule
          ? `${event}: ${words.rule(delivery.rule)} · ${words.subject(delivery.subject)}`
          : event}
      </Text>
      <Text size="xs" c="dimmed">
        {figures.moment(delivery.createdAt)}
      </Text>
    </>
  )
}

function Answer({ delivery }: { delivery: Delivery }) {
  const t = useTranslations('deliveries')
  const figures = useFigures()
  const [last] = delivery.tries
  return (
    <>
      {last && (
        <Text size="sm" lineClamp={3} className="address">
          {last.answer || '–'}
        </Text>
      )}
      <Text size="xs" c="dimmed">
        {t('tries', { count: delivery.attempts })}
        {last && ` · ${figures.moment(last.at)} · ${figures.milliseconds(last.ms)}`}
        {delivery.state === 'waiting' &&
          last &&
          ` · ${t('again', { time: figures.moment(delivery.nextAt) })}`}
      </Text>
    </>
  )
}

/** Sends it once more; its id stays the same, so a receiver that has it knows it again. */
function Replay({ delivery }: { delivery: Delivery }) {
  const t = useTranslations('deliveries')
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  const mayChange = useMayChange()
  const replay = useMutation(
    trpc.alerts.replay.mutationOptions({
      onSuccess: () => queryClient.invalidateQueries({ queryKey: trpc.alerts.pathKey() }),
    }),
  )
  const over = delivery.state === 'sent' || delivery.state === 'dead'
  if (!mayChange || !over || delivery.channel === null) return null
  return (
    <Stack gap={4} align="flex-end">
      <Button
        size="compact-sm"
        variant="default"
        loading={replay.isPending}
        aria-label={t('replayLabel', { id: delivery.id })}
        onClick={() => replay.mutate({ id: delivery.id })}
      >
        {t('replay')}
      </Button>
      <MutationError error={replay.error} />
    </Stack>
  )
}
