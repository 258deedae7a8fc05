'use client'

import { Button, Group, Modal, NumberInput, SimpleGrid, Stack, Switch, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { inferRouterOutputs } from '@trpc/server'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import type { AppRouter } from '../../../server/api/root'
import { MutationError } from '../../query-state'
import { useTRPC } from '../../trpc'

export type LimitsView = inferRouterOutputs<AppRouter>['scale']['limits'][number]

const MOST = 500

/** How far requests for workers of a queue may go, and whether it asks by itself. */
export function LimitsModal({
  limits,
  opened,
  close,
}: {
  limits: LimitsView
  opened: boolean
  close: () => void
}) {
  const t = useTranslations('scaling.limits')
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={t('title', { queue: limits.queue })}
      centered
      closeButtonProps={{ 'aria-label': t('cancel') }}
    >
      {opened && <LimitsForm limits={limits} close={close} />}
    </Modal>
  )
}

type Field = number | string

function LimitsForm({ limits: { queue, ...limits }, close }: { limits: LimitsView; close: () => void }) {
  const t = useTranslations('scaling.limits')
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  const [fewest, setFewest] = useState<Field>(limits.fewest)
  const [most, setMost] = useState<Field>(limits.most)
  const [perMinute, setPerMinute] = useState<Field>(limits.perMinute ?? '')
  const [auto, setAuto] = useState(limits.auto)
  const [upSeconds, setUpSeconds] = useState<Field>(limits.upSeconds)
  const [downSeconds, setDownSeconds] = useState<Field>(limits.downSeconds)
  const save = useMutation(
    trpc.scale.setLimits.mutationOptions({
      onSuccess: async () => {
        await queryClient.invalidateQueries({ queryKey: trpc.scale.pathKey() })
        close()
      },
    }),
  )
  const crossed = fewest !== '' && most !== '' && Number(fewest) > Number(most)
  const whole = ![fewest, most, upSeconds, downSeconds].includes('') && !crossed
  const number = { allowDecimal: false, allowNegative: false, clampBehavior: 'blur' as const }
  const workers = { ...number, min: 0, max: MOST }
  const seconds = { ...number, min: 10, max: 86_400, suffix: ` ${t('seconds')}` }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        // The dialogue stands in the card's form, to which React would hand this event on.
        event.stopPropagation()
        if (!whole) return
        save.mutate({
          queue,
          limits: {
            fewest: Number(fewest),
            most: Number(most),
            perMinute: perMinute === '' ? null : Number(perMinute),
            auto,
            upSeconds: Number(upSeconds),
            downSeconds: Number(downSeconds),
          },
        })
      }}
    >
      <Stack gap="md">
        <Text size="sm" c="dimmed">
          {t('text')}
        </Text>
        <SimpleGrid cols={2} spacing="sm">
          <NumberInput {...workers} label={t('fewest')} value={fewest} onChange={setFewest} data-autofocus />
          <NumberInput
            {...workers}
            label={t('most')}
            value={most}
            onChange={setMost}
            error={crossed && t('order')}
          />
        </SimpleGrid>
        <NumberInput
          {...number}
          min={1}
          max={MOST}
          label={t('perMinute')}
          description={t('perMinuteText')}
          placeholder={t('any')}
          value={perMinute}
          onChange={setPerMinute}
        />
        <Switch
          label={t('auto')}
          description={t('autoText')}
          checked={auto}
          onChange={(event) => setAuto(event.currentTarget.checked)}
        />
        {auto && (
          <SimpleGrid cols={2} spacing="sm">
            <NumberInput
              {...seconds}
              label={t('upSeconds')}
              description={t('upText')}
              value={upSeconds}
              onChange={setUpSeconds}
              inputWrapperOrder={['label', 'input', 'description', 'error']}
            />
            <NumberInput
              {...seconds}
              label={t('downSeconds')}
              description={t('downText')}
              value={downSeconds}
              onChange={setDownSeconds}
              inputWrapperOrder={['label', 'input', 'description', 'error']}
            />
          </SimpleGrid>
        )}
        <MutationError error={save.error} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={close}>
            {t('cancel')}
          </Button>
          <Button type="submit" disabled={!whole} loading={save.isPending}>
            {t('save')}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
