'use client'

import { Alert, Button, Group, Stack, Table, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import { ConfirmModal } from '../../confirm-modal'
import { useFigures } from '../../figures'
import { ListFrame, ListTable } from '../../list-frame'
import { MutationError, QueryState } from '../../query-state'
import { SectionHead } from '../../section-head'
import { Tag } from '../../tag'
import { useTRPC } from '../../trpc'
import { useIsAdmin } from '../may-change'
import type { Channel } from './channel-fields'
import { ChannelModal } from './channel-form'

/** Where alerts are sent to. */
export function ChannelsTable() {
  const t = useTranslations('channels')
  const trpc = useTRPC()
  const isAdmin = useIsAdmin()
  const query = useQuery(trpc.alerts.channels.queryOptions())
  const [editing, edit] = useState<Channel | null>()
  // The one just saved offers its test, so that nobody learns of a wrong address by silence.
  const [fresh, setFresh] = useState<number>()
  return (
    <Stack gap="sm" component="section">
      <SectionHead title={t('title')} text={t('text')}>
        {isAdmin && (
          <Button size="sm" onClick={() => edit(null)}>
            {t('add')}
          </Button>
        )}
      </SectionHead>
      <QueryState query={query}>
        {(channels) => (
          <ListFrame
            count={channels.length}
            empty={t(isAdmin ? 'none' : 'noneToSee')}
            table={
              <ListTable
                heads={
                  <>
                    <Table.Th>{t('name')}</Table.Th>
                    <Table.Th>{t('kind')}</Table.Th>
                    <Table.Th>{t('goesTo')}</Table.Th>
                    <Table.Th>{t('state')}</Table.Th>
                    <Table.Th aria-label={t('actions')} />
                  </>
                }
              >
                {channels.map((channel) => (
                  <Table.Tr key={channel.id}>
                    <Table.Td fw={600} className="address">
                      {channel.name}
                    </Table.Td>
                    <Table.Td>{t(`kinds.${channel.kind}`)}</Table.Td>
                    <Table.Td className="address">{channel.shown}</Table.Td>
                    <Table.Td>
                      <State channel={channel} />
                    </Table.Td>
                    <Table.Td>
                      <Actions channel={channel} edit={edit} fresh={channel.id === fresh} />
                    </Table.Td>
                  </Table.Tr>
                ))}
              </ListTable>
            }
            cards={channels.map((channel) => (
              <Stack key={channel.id} className="panel" p="sm" gap={6}>
                <Group justify="space-between" gap="xs" wrap="nowrap">
                  <Text size="sm" fw={600} className="address">
                    {channel.name}
                  </Text>
                  <State channel={channel} />
                </Group>
                <Text size="sm" c="dimmed" className="address">
                  {t(`kinds.${channel.kind}`)} · {channel.shown}
                </Text>
                <Actions channel={channel} edit={edit} fresh={channel.id === fresh} />
              </Stack>
            ))}
          />
        )}
      </QueryState>
      <ChannelModal channel={editing} close={() => edit(undefined)} saved={setFresh} />
    </Stack>
  )
}

function State({ channel }: { channel: Channel }) {
  const t = useTranslations('channels')
  return channel.enabled ? <Tag color="teal">{t('on')}</Tag> : <Tag color="gray">{t('off')}</Tag>
}

function Actions({
  channel,
  edit,
  fresh,
}: {
  channel: Channel
  edit: (channel: Channel) => void
  fresh: boolean
}) {
  const t = useTranslations('channels')
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  const figures = useFigures()
  const isAdmin = useIsAdmin()
  const [deleting, setDeleting] = useState(false)
  const refresh = () => queryClient.invalidateQueries({ queryKey: trpc.alerts.pathKey() })
  const test = useMutation(trpc.alerts.testChannel.mutationOptions({ onSuccess: refresh }))
  const remove = useMutation(trpc.alerts.deleteChannel.mutationOptions({ onSuccess: refresh }))
  if (!isAdmin) return null
  const { id, name } = channel
  return (
    <Stack gap={4}>
      <Group gap={4} justify="flex-end">
        <Button
          size="compact-sm"
          variant={fresh && !test.data ? 'filled' : 'default'}
          loading={test.isPending}
          aria-label={t('testLabel', { name })}
          onClick={() => test.mutate({ id })}
        >
          {t('test')}
        </Button>
        <Button
          size="compact-sm"
          variant="default"
          aria-label={t('editLabel', { name })}
          onClick={() => edit(channel)}
        >
          {t('edit')}
        </Button>
        <Button
          size="compact-sm"
          variant="default"
          aria-label={t('deleteLabel', { name })}
          onClick={() => setDeleting(true)}
        >
          {t('delete')}
        </Button>
      </Group>
      {test.data && (
        <Alert
          color={test.data.taken ? 'teal' : 'red'}
          variant="light"
          py={6}
          role="status"
          maw={520}
          ml="auto"
        >
          <Text size="sm" fw={600}>
            {t(test.data.taken ? 'taken' : 'refused', { time: figures.milliseconds(test.data.ms) })}
          </Text>
          <Text size="xs" className="address">
            {t('answered', { answer: test.data.answer || '–' })}
          </Text>
        </Alert>
      )}
      <MutationError error={test.error} />
      <ConfirmModal
        opened={deleting}
        close={() => setDeleting(false)}
        title={t('deleteTitle', { name })}
        text={t('deleteText')}
        keep={t('keep')}
        confirm={t('delete')}
        change={{ run: () => remove.mutate({ id }), isPending: remove.isPending, error: remove.error }}
      />
    </Stack>
  )
}
