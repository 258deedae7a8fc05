'use client'

import { ActionIcon, Button, Group, Menu } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import type { QueueView } from '../../../server/api/queue-views'
import { DotsIcon, PauseIcon, PlayIcon } from '../../icons'
import { MutationError } from '../../query-state'
import { useTRPC } from '../../trpc'
import { useMayChange } from '../may-change'
import { PurgeQueue } from './purge-queue'
import { useQueueState } from './queue-state'

/** Pause or resume with one click; what changes more stands in the menu beside it. */
export function QueueActions({ queue, size }: { queue: QueueView; size: 'compact-sm' | 'sm' }) {
  const t = useTranslations('queueActions')
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  const mayChange = useMayChange()
  const state = useQueueState(queue)
  const [purging, purge] = useDisclosure(false)
  const then = {
    onSuccess: () => queryClient.invalidateQueries({ queryKey: trpc.queues.pathKey() }),
  }
  const pause = useMutation(trpc.queues.pause.mutationOptions(then))
  const resume = useMutation(trpc.queues.resume.mutationOptions(then))
  const drain = useMutation(trpc.queues.drain.mutationOptions(then))
  if (!mayChange) return null
  const { name } = queue
  const stopped = state !== 'open' && state !== 'quiet'
  const main = stopped ? resume : pause
  return (
    <>
      <Group gap={4} wrap="nowrap" justify="flex-end">
        <Button
          size={size}
          variant="default"
          loading={main.isPending}
          leftSection={stopped ? <PlayIcon /> : <PauseIcon />}
          onClick={() => main.mutate({ name })}
          aria-label={t(stopped ? 'resumeLabel' : 'pauseLabel', { name })}
        >
          {t(stopped ? 'resume' : 'pause')}
        </Button>
        <Menu position="bottom-end" width={300} withinPortal>
          <Menu.Target>
            <ActionIcon
              variant="default"
              size={size === 'sm' ? 36 : 26}
              aria-label={t('more', { name })}
              loading={drain.isPending}
            >
              <DotsIcon />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            {state === 'paused' || !stopped ? (
              <Action label={t('drain')} text={t('drainText')} onClick={() => drain.mutate({ name })} />
            ) : (
              <Action label={t('pause')} text={t('pauseText')} onClick={() => pause.mutate({ name })} />
            )}
            <Menu.Divider />
            <Action label={t('purge')} text={t('purgeText')} red onClick={purge.open} />
          </Menu.Dropdown>
        </Menu>
      </Group>
      <MutationError error={main.error ?? drain.error ?? pause.error} />
      <PurgeQueue name={name} opened={purging} close={purge.close} />
    </>
  )
}

function Action({
  label,
  text,
  red = false,
  onClick,
}: {
  label: string
  text: string
  red?: boolean
  onClick: () => void
}) {
  return (
    <Menu.Item onClick={onClick} {...(red && { color: 'red' })}>
      {label}
      <br />
      <small style={{ color: 'var(--mantine-color-dimmed)' }}>{text}</small>
    </Menu.Item>
  )
}
