'use client'

import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import { useFigures } from '../../figures'
import { PauseIcon, PlayIcon } from '../../icons'
import { MutationError } from '../../query-state'
import { useTRPC } from '../../trpc'
import { useMayChange } from '../may-change'

/** Stops or resumes every schedule that the search shows, on all pages; the number is named before it happens. */
export function EnableMatching({
  search,
  total,
}: {
  search: string
  total: { enabled: number; stopped: number }
}) {
  const t = useTranslations('enableMatching')
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  const figures = useFigures()
  const mayChange = useMayChange()
  const [asked, ask] = useState<boolean | null>(null)
  const change = useMutation(
    trpc.schedules.enableMatching.mutationOptions({
      onSuccess: () => {
        ask(null)
        return queryClient.invalidateQueries({ queryKey: trpc.schedules.pathKey() })
      },
    }),
  )
  if (!mayChange || total.enabled + total.stopped === 0) return null
  const many = asked ? total.stopped : total.enabled
  return (
    <Group gap="xs">
      <Button
        size="xs"
        variant="default"
        leftSection={<PauseIcon />}
        disabled={total.enabled === 0}
        onClick={() => ask(false)}
      >
        {t('pause', { many: figures.count(total.enabled) })}
      </Button>
      <Button
        size="xs"
        variant="default"
        leftSection={<PlayIcon />}
        disabled={total.stopped === 0}
        onClick={() => ask(true)}
      >
        {t('resume', { many: figures.count(total.stopped) })}
      </Button>
      <Modal
        opened={asked !== null}
        onClose={() => ask(null)}
        title={t(asked ? 'resumeTitle' : 'pauseTitle')}
        centered
        closeButtonProps={{ 'aria-label': t('keep') }}
      >
        <Stack gap="md">
          <Text size="sm">
            {search
              ? t(asked ? 'resumeSome' : 'pauseSome', { many: figures.count(many), search })
              : t(asked ? 'resumeAll' : 'pauseAll', { many: figures.count(many) })}
          </Text>
          <MutationError error={change.error} />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={() => ask(null)} data-autofocus>
              {t('keep')}
            </Button>
            <Button
              loading={change.isPending}
              onClick={() => asked !== null && change.mutate({ enabled: asked, ...(search && { search }) })}
            >
              {t(asked ? 'confirmResume' : 'confirmPause', { many: figures.count(many) })}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </Group>
  )
}
