'use client'

import { Alert, Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import { useFigures } from '../../figures'
import { useLive } from '../../live'
import { MutationError } from '../../query-state'
import { useTRPC } from '../../trpc'

/** Drops what waits. The number is typed, so that nobody drops a million where they meant a few; no more than it is dropped. */
export function PurgeQueue({ name, opened, close }: { name: string; opened: boolean; close: () => void }) {
  const t = useTranslations('purge')
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={t('title', { name })}
      centered
      closeButtonProps={{ 'aria-label': t('keep') }}
    >
      {opened && <Question name={name} close={close} />}
    </Modal>
  )
}

function Question({ name, close }: { name: string; close: () => void }) {
  const t = useTranslations('purge')
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  const figures = useFigures()
  const { latest } = useLive()
  const now = latest?.queues.find((one) => one.name === name)
  // As it was when the question was put: a number that moves while it is typed can't be confirmed.
  const [asked] = useState(now)
  const [typed, setTyped] = useState('')
  const purge = useMutation(
    trpc.queues.purge.mutationOptions({ onSuccess: () => queryClient.invalidateQueries() }),
  )
  const many = asked ? asked.inbox + asked.pending + asked.retry : 0
  if (purge.data)
    return (
      <Stack gap="md">
        <Alert color="teal" variant="light" role="status">
          {t('done', {
            cancelled: figures.count(purge.data.cancelled),
            rejected: figures.count(purge.data.rejected),
          })}
        </Alert>
        <Group justify="flex-end">
          <Button variant="default" onClick={close} data-autofocus>
            {t('close')}
          </Button>
        </Group>
      </Stack>
    )
  if (!asked || many === 0)
    return (
      <Text size="sm" c="dimmed">
        {t('nothing')}
      </Text>
    )
  const confirmed = typed.replace(/[\s,.]/g, '') === String(many)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (confirmed) purge.mutate({ name, confirmed: many })
      }}
    >
      <Stack gap="md">
        <Text size="sm">
          {t('text', {
            many: figures.count(many),
            pending: figures.count(asked.pending + asked.retry),
            inbox: figures.count(asked.inbox),
          })}
        </Text>
        {asked.running > 0 && (
          <Text size="sm" c="dimmed">
            {t('running', { running: figures.count(asked.running) })}
          </Text>
        )}
        <TextInput
          label={t('type', { many: String(many) })}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          inputMode="numeric"
          autoComplete="off"
          data-autofocus
        />
        <MutationError error={purge.error} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={close}>
            {t('keep')}
          </Button>
          <Button color="red" type="submit" disabled={!confirmed} loading={purge.isPending}>
            {t('confirm', { many: figures.count(many) })}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
