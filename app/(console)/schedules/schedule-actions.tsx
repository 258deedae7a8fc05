'use client'

import { ActionIcon, Button, Group, Menu, Modal, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useTranslations } from 'next-intl'
import type { ScheduleView } from '../../../server/api/schedule-views'
import { DotsIcon, PauseIcon, PlayIcon } from '../../icons'
import { MutationError } from '../../query-state'
import { useTRPC } from '../../trpc'
import { useMayChange } from '../may-change'

export function ScheduleActions({ schedule, size }: { schedule: ScheduleView; size: 'compact-sm' | 'sm' }) {
  const t = useTranslations('scheduleActions')
  const trpc = useTRPC()
  const router = useRouter()
  const queryClient = useQueryClient()
  const mayChange = useMayChange()
  const { data: me } = useQuery(trpc.session.me.queryOptions())
  const [deleting, dialog] = useDisclosure(false)
  const refresh = () => queryClient.invalidateQueries({ queryKey: trpc.schedules.pathKey() })
  const enable = useMutation(trpc.schedules.enable.mutationOptions({ onSuccess: refresh }))
  const run = useMutation(
    trpc.schedules.run.mutationOptions({ onSuccess: ({ run }) => router.push(`/runs/${run}`) }),
  )
  const remove = useMutation(
    trpc.schedules.delete.mutationOptions({
      onSuccess: () => {
        dialog.close()
        router.push('/schedules')
        return refresh()
      },
    }),
  )
  if (!mayChange) return null
  const { id, name, enabled } = schedule
  return (
    <>
      <Group gap={4} wrap="nowrap" justify="flex-end">
        <Button
          size={size}
          variant="default"
          loading={enable.isPending}
          leftSection={enabled ? <PauseIcon /> : <PlayIcon />}
          onClick={() => enable.mutate({ id, enabled: !enabled })}
          aria-label={t(enabled ? 'pauseLabel' : 'resumeLabel', { name })}
        >
          {t(enabled ? 'pause' : 'resume')}
        </Button>
        <Menu position="bottom-end" width={220} withinPortal>
          <Menu.Target>
            <ActionIcon
              variant="default"
              size={size === 'sm' ? 36 : 26}
              aria-label={t('more', { name })}
              loading={run.isPending}
            >
              <DotsIcon />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => run.mutate({ id })}>{t('run')}</Menu.Item>
            {me?.role === 'admin' && (
              <Menu.Item color="red" onClick={dialog.open}>
                {t('delete')}
              </Menu.Item>
            )}
          </Menu.Dropdown>
        </Menu>
      </Group>
      <MutationError error={enable.error ?? run.error} />
      <Modal
        opened={deleting}
        onClose={dialog.close}
        title={t('deleteTitle', { name })}
        centered
        closeButtonProps={{ 'aria-label': t('keep') }}
      >
        <Stack gap="md">
          <Text size="sm">{t('deleteText')}</Text>
          <MutationError error={remove.error} />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={dialog.close} data-autofocus>
              {t('keep')}
            </Button>
            <Button color="red" loading={remove.isPending} onClick={() => remove.mutate({ id })}>
              {t('confirm')}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}
