'use client'

import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import type { RunView } from '../../server/api/run-views'
import { useFigures } from '../figures'
import { MutationError } from '../query-state'
import { isOver } from '../run-state'
import { useTRPC } from '../trpc'

/** A cancelled run can't be taken up again, so it is asked for twice. */
export function CancelRun({ run, size = 'compact-sm' }: { run: RunView; size?: 'compact-sm' | 'sm' }) {
  const t = useTranslations('cancel')
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  const figures = useFigures()
  const { data: me } = useQuery(trpc.session.me.queryOptions())
  const [open, dialog] = useDisclosure(false)
  const cancel = useMutation(
    trpc.runs.cancel.mutationOptions({
      onSuccess: () => {
        dialog.close()
        return queryClient.invalidateQueries({ queryKey: trpc.runs.pathKey() })
      },
    }),
  )
  if (isOver(run.state) || run.state === 'cancelling' || me?.role === 'viewer') return null
  const left = run.counts.pending + run.counts.running + run.counts.retry
  return (
    <>
      <Button
        size={size}
        variant="default"
        onClick={dialog.open}
        aria-label={t('label', { id: String(run.id) })}
      >
        {t('button')}
      </Button>
      <Modal
        opened={open}
        onClose={dialog.close}
        title={t('title', { id: String(run.id) })}
        centered
        closeButtonProps={{ 'aria-label': t('keep') }}
      >
        <Stack gap="md">
          <Text size="sm">
            {t('text', { open: figures.count(left), done: figures.count(run.counts.done) })}
          </Text>
          <MutationError error={cancel.error} />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={dialog.close} data-autofocus>
              {t('keep')}
            </Button>
            <Button color="red" loading={cancel.isPending} onClick={() => cancel.mutate({ id: run.id })}>
              {t('confirm')}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}
