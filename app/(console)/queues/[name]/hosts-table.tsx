'use client'

import { Box, Group, Stack, Table, Text, TextInput, Title } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import { delayInForce } from '../../../../core/queue/delay-in-force'
import type { HostView } from '../../../../core/queue/hosts'
import type { QueueView } from '../../../../server/api/queue-views'
import type { LastError } from '../../../../server/services/queue-hosts'
import { useFigures } from '../../../figures'
import { KeysetPager, useKeyset } from '../../../keyset-pager'
import { ListFrame, ListTable } from '../../../list-frame'
import { QueryState } from '../../../query-state'
import { useTRPC } from '../../../trpc'
import { useReason } from '../../runs/[id]/reason'
import { HostDelay } from './host-delay'
import { HOSTS_PAGE } from './hosts-page'

type Host = HostView & { lastError: LastError | null }

/** Hosts with work, by name, read again every two seconds; each with its own pace, edited in its line. */
export function HostsTable({ queue }: { queue: QueueView }) {
  const t = useTranslations('hosts')
  const trpc = useTRPC()
  const keyset = useKeyset<string>()
  const [text, setText] = useState('')
  const [prefix] = useDebouncedValue(text.trim().toLowerCase(), 250)
  const query = useQuery({
    ...trpc.queues.hosts.queryOptions({
      name: queue.name,
      limit: HOSTS_PAGE,
      ...(prefix && { prefix }),
      ...(keyset.cursor && { cursor: keyset.cursor }),
    }),
    placeholderData: keepPreviousData,
    refetchInterval: 2_000,
  })
  return (
    <section aria-labelledby="hosts-title">
      <Group justify="space-between" mb="sm" gap="xs" align="flex-end">
        <Box>
          <Title order={2} size="h5" id="hosts-title">
            {t('title')}
          </Title>
          <Text size="sm" c="dimmed">
            {t('text')}
          </Text>
        </Box>
        <TextInput
          size="xs"
          w={240}
          aria-label={t('search')}
          placeholder={t('search')}
          value={text}
          onChange={(event) => {
            setText(event.currentTarget.value)
            keyset.reset()
          }}
          spellCheck={false}
          autoComplete="off"
        />
      </Group>
      <QueryState query={query}>
        {({ hosts, next }) => (
          <ListFrame
            count={hosts.length}
            empty={t(prefix ? 'noMatch' : 'empty')}
            table={<WideTable queue={queue} hosts={hosts} />}
            cards={hosts.map((host) => <Card key={host.host} queue={queue} host={host} />)}
          >
            <KeysetPager keyset={keyset} next={next} order="name" />
          </ListFrame>
        )}
      </QueryState>
    </section>
  )
}

function WideTable({ queue, hosts }: { queue: QueueView; hosts: Host[] }) {
  const t = useTranslations('hosts')
  const figures = useFigures()
  return (
    <ListTable
      heads={
        <>
          <Table.Th>{t('host')}</Table.Th>
          <Table.Th ta="right">{t('pending')}</Table.Th>
          <Table.Th ta="right">{t('running')}</Table.Th>
          <Table.Th>{t('next')}</Table.Th>
          <Table.Th>{t('delay')}</Table.Th>
          <Table.Th>{t('lastError')}</Table.Th>
        </>
      }
    >
      {hosts.map((host) => (
        <Table.Tr key={host.host}>
          <Table.Td className="address" fw={500} miw={240}>
            {host.host}
          </Table.Td>
          <Table.Td ta="right">{figures.count(host.pending)}</Table.Td>
          <Table.Td ta="right">{figures.count(host.running)}</Table.Td>
          <Table.Td style={{ whiteSpace: 'nowrap' }}>
            <NextTurn queue={queue} host={host} />
          </Table.Td>
          <Table.Td style={{ whiteSpace: 'nowrap' }}>
            <HostDelay queue={queue} host={host} />
          </Table.Td>
          <Table.Td w="28%">
            <LastFailure error={host.lastError} />
          </Table.Td>
        </Table.Tr>
      ))}
    </ListTable>
  )
}

/** The same on a narrow screen. */
function Card({ queue, host }: { queue: QueueView; host: Host }) {
  const t = useTranslations('hosts')
  const figures = useFigures()
  return (
    <Stack className="panel figures" p="sm" gap={4}>
      <Text size="sm" fw={600} className="address">
        {host.host}
      </Text>
      <Text size="sm">
        {t('summary', { pending: figures.count(host.pending), running: figures.count(host.running) })}
      </Text>
      <Group gap="sm">
        <Text size="sm" c="dimmed">
          {t('next')}: <NextTurn queue={queue} host={host} />
        </Text>
        <HostDelay queue={queue} host={host} />
      </Group>
      <LastFailure error={host.lastError} />
    </Stack>
  )
}

/** Spacing and what the host asked for both bind; the later one is told, with its cause where that is the host's own wish. */
function NextTurn({ queue, host }: { queue: QueueView; host: Host }) {
  const t = useTranslations('hosts')
  const figures = useFigures()
  const now = Date.now()
  const at = Math.max(host.nextAt, host.heldUntil)
  const { delayMs } = delayInForce(host, queue)
  const full = host.running >= (delayMs > 0 ? 1 : queue.perHost)
  if (at <= now) return <span suppressHydrationWarning>{t(full ? 'afterFetch' : 'atOnce')}</span>
  const values = { duration: figures.duration(at - now), time: figures.clock(at) }
  return (
    <span suppressHydrationWarning>{t(host.heldUntil >= host.nextAt ? 'heldFor' : 'inTime', values)}</span>
  )
}

function LastFailure({ error }: { error: LastError | null }) {
  const reason = useReason()
  const figures = useFigures()
  if (!error) return null
  return (
    <Text size="xs" c="dimmed" className="address" title={error.detail ?? undefined}>
      {reason(error)} {figures.moment(error.at)}
    </Text>
  )
}
