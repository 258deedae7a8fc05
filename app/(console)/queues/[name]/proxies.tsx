'use client'

import { Alert, Button, Group, Modal, NativeSelect, Stack, Text, Textarea } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import type { ProxyRotation } from '../../../../core/proxy-address'
import type { QueueView } from '../../../../server/api/queue-views'
import type { ProxyView } from '../../../../server/services/proxies'
import { useFigures } from '../../../figures'
import { MutationError, QueryState } from '../../../query-state'
import { SectionHead } from '../../../section-head'
import { Tag } from '../../../tag'
import { useTRPC } from '../../../trpc'
import { useIsAdmin, useMayChange } from '../../may-change'

const ROTATIONS: ProxyRotation[] = ['turn', 'host', 'health']
const EXAMPLE = 'socks5://user:password@proxy.example:1080'

/** The queue's proxies and how they do, read again every five seconds. */
export function Proxies({ queue }: { queue: QueueView }) {
  const t = useTranslations('proxies')
  const trpc = useTRPC()
  const isAdmin = useIsAdmin()
  const [adding, setAdding] = useState(false)
  const query = useQuery({
    ...trpc.queues.proxies.queryOptions({ name: queue.name }),
    refetchInterval: 5_000,
  })
  return (
    <Stack className="panel" p="md" gap="sm" component="section" aria-label={t('title')}>
      <SectionHead title={t('title')} text={t('text')}>
        {isAdmin && (
          <Button size="sm" variant="default" onClick={() => setAdding(true)}>
            {t('add')}
          </Button>
        )}
      </SectionHead>
      <QueryState query={query}>
        {(all) =>
          all.length === 0 ? (
            <Text size="sm" c="dimmed">
              {t('none')}
            </Text>
          ) : (
            <Stack gap="xs">
              <Rotation queue={queue} />
              {all.map((proxy) => (
                <One key={proxy.id} queue={queue} proxy={proxy} />
              ))}
            </Stack>
          )
        }
      </QueryState>
      <Modal
        opened={adding}
        onClose={() => setAdding(false)}
        title={t('title')}
        centered
        closeButtonProps={{ 'aria-label': t('cancel') }}
      >
        {adding && <Add queue={queue} close={() => setAdding(false)} />}
      </Modal>
    </Stack>
  )
}

function Rotation({ queue }: { queue: QueueView }) {
  const t = useTranslations('proxies')
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  const mayChange = useMayChange()
  const set = useMutation(
    trpc.queues.configure.mutationOptions({
      onSuccess: () => queryClient.invalidateQueries({ queryKey: trpc.queues.pathKey() }),
    }),
  )
  return (
    <>
      <NativeSelect
        label={t('rotation')}
        data={ROTATIONS.map((value) => ({ value, label: t(`rotations.${value}`) }))}
        value={queue.proxies}
        disabled={!mayChange || set.isPending}
        onChange={(event) =>
          set.mutate({
            name: queue.name,
            settings: { proxies: event.currentTarget.value as ProxyRotation },
          })
        }
      />
      <MutationError error={set.error} />
    </>
  )
}

function One({ queue, proxy }: { queue: QueueView; proxy: ProxyView }) {
  const t = useTranslations('proxies')
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  const figures = useFigures()
  const isAdmin = useIsAdmin()
  const remove = useMutation(
    trpc.queues.removeProxy.mutationOptions({
      onSuccess: () => queryClient.invalidateQueries({ queryKey: trpc.queues.proxies.pathKey() }),
    }),
  )
  const { id, shown, score, uses, restsUntil } = proxy
  return (
    <Group justify="space-between" gap="xs" wrap="nowrap" align="flex-start">
      <div>
        <Text size="sm" fw={600} className="address">
          {shown}
        </Text>
        <Text size="xs" c="dimmed" component="div" suppressHydrationWarning>
          {uses === 0 ? t('fresh') : t('well', { score: figures.percent(score), uses })}{' '}
          {restsUntil !== null && (
            <Tag color="orange">{t('rests', { span: figures.duration(restsUntil - Date.now()) })}</Tag>
          )}
        </Text>
      </div>
      {isAdmin && (
        <Button
          size="compact-sm"
          variant="default"
          miw="max-content"
          aria-label={t('removeLabel', { proxy: shown })}
          loading={remove.isPending}
          onClick={() => remove.mutate({ name: queue.name, id })}
        >
          {t('remove')}
        </Button>
      )}
    </Group>
  )
}

function Add({ queue, close }: { queue: QueueView; close: () => void }) {
  const t = useTranslations('proxies')
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  const [text, setText] = useState('')
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const add = useMutation(
    trpc.queues.addProxies.mutationOptions({
      onSuccess: async ({ refused }) => {
        await queryClient.invalidateQueries({ queryKey: trpc.queues.proxies.pathKey() })
        if (refused.length === 0) close()
      },
    }),
  )
  return (
    <form
      autoComplete="off"
      onSubmit={(event) => {
        event.preventDefault()
        add.mutate({ name: queue.name, lines })
      }}
    >
      <Stack gap="sm">
        <Textarea
          label={t('lines')}
          description={t('linesText')}
          placeholder={EXAMPLE}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          autosize
          minRows={3}
          maxRows={12}
          spellCheck={false}
          data-autofocus
        />
        {add.data && (
          <Alert color="orange" variant="light" role="status">
            {t('added', { added: add.data.added })}
            {add.data.refused.map((one) => (
              <Text key={one.line} size="sm" className="address">
                {t('refused', one)}
              </Text>
            ))}
          </Alert>
        )}
        <MutationError error={add.error} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={close}>
            {t('cancel')}
          </Button>
          <Button type="submit" loading={add.isPending} disabled={lines.length === 0}>
            {t('confirm')}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
