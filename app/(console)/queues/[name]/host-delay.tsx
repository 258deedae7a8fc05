'use client'

import { Badge, Button, Group, NumberInput, Popover, Stack, Text, UnstyledButton } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import { delayInForce } from '../../../../core/queue/delay-in-force'
import type { HostView } from '../../../../core/queue/hosts'
import type { QueueView } from '../../../../server/api/queue-views'
import { useFigures } from '../../../figures'
import { MutationError } from '../../../query-state'
import { useTRPC } from '../../../trpc'
import { useMayChange } from '../../may-change'

const COLOURS = { operator: 'indigo', robots: 'gray', pace: 'orange' }

/** The delay in force for a host and whose it is; a click changes it for all workers at once. */
export function HostDelay({ queue, host }: { queue: QueueView; host: HostView }) {
  const t = useTranslations('hostDelay')
  const figures = useFigures()
  const mayChange = useMayChange()
  const [opened, popover] = useDisclosure(false)
  const { delayMs, source } = delayInForce(host, queue)
  const shown = (
    <Group gap={6} wrap="nowrap" component="span">
      <span>{figures.delay(delayMs)}</span>
      {source !== 'queue' && (
        <Badge size="sm" variant="light" tt="none" radius="sm" miw="max-content" color={COLOURS[source]}>
          {t(`source.${source}`)}
        </Badge>
      )}
    </Group>
  )
  if (!mayChange) return shown
  return (
    <Popover
      opened={opened}
      onChange={popover.set}
      width={300}
      position="bottom-start"
      withinPortal
      trapFocus
    >
      <Popover.Target>
        <UnstyledButton
          onClick={popover.toggle}
          fz="sm"
          className="editable"
          aria-label={t('edit', { host: host.host })}
        >
          {shown}
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown>
        {opened && <Edit queue={queue} host={host} close={popover.close} />}
      </Popover.Dropdown>
    </Popover>
  )
}

function Edit({ queue, host, close }: { queue: QueueView; host: HostView; close: () => void }) {
  const t = useTranslations('hostDelay')
  const settings = useTranslations('queueSettings')
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  const figures = useFigures()
  const [delay, setDelay] = useState<number | string>((host.rateMs ?? queue.delayMs) / 1000)
  const set = useMutation(
    trpc.queues.setHostDelay.mutationOptions({
      onSuccess: () => {
        close()
        return queryClient.invalidateQueries({ queryKey: trpc.queues.hosts.pathKey() })
      },
    }),
  )
  const change = (delayMs: number | null) => set.mutate({ name: queue.name, host: host.host, delayMs })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (delay !== '') change(Math.round(Number(delay) * 1000))
      }}
    >
      <Stack gap="sm">
        <NumberInput
          label={t('label', { host: host.host })}
          description={t('text', { delay: figures.delay(queue.delayMs) })}
          value={delay}
          onChange={setDelay}
          min={0}
          max={86_400}
          decimalScale={3}
          step={0.5}
          clampBehavior="strict"
          allowNegative={false}
          suffix={` ${settings('secondsUnit')}`}
          data-autofocus
        />
        {host.ownDelayMs > 0 && (
          <Text size="xs" c="dimmed">
            {t('robots', { delay: figures.delay(host.ownDelayMs) })}
          </Text>
        )}
        {queue.adaptive && host.paceMs > 0 && (
          <Text size="xs" c="dimmed">
            {t('pace', { delay: figures.delay(host.paceMs) })}
          </Text>
        )}
        <MutationError error={set.error} />
        <Group gap="xs" justify="flex-end">
          {host.rateMs !== null && (
            <Button size="xs" variant="default" onClick={() => change(null)} disabled={set.isPending}>
              {t('remove')}
            </Button>
          )}
          <Button size="xs" type="submit" loading={set.isPending} disabled={delay === ''}>
            {t('save')}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
