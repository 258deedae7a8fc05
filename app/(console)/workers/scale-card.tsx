'use client'

import { Anchor, Box, Button, Group, NumberInput, Slider, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import type { QueueView } from '../../../server/api/queue-views'
import { useFigures } from '../../figures'
import { Link } from '../../link'
import { useLive } from '../../live'
import { MutationError } from '../../query-state'
import { useMayChange } from '../may-change'
import { LimitsModal, type LimitsView } from './limits-form'
import { useScale } from './use-scale'

/** The slider reaches at least so far; the field beside it takes any number. */
const REACH = 16

/** The wanted number of workers of a queue, asked for with one click. */
export function ScaleCard({ queue, limits }: { queue: QueueView; limits: LimitsView }) {
  const t = useTranslations('scaling')
  const figures = useFigures()
  const mayChange = useMayChange()
  const { latest } = useLive()
  const now = latest?.queues.find((one) => one.name === queue.name)
  const scale = useScale()
  const [draft, setDraft] = useState<number | string | null>(null)
  const [reason, setReason] = useState('')
  const wanted = draft === null || draft === '' ? queue.workers : Number(draft)
  const { fewest, most } = limits
  const reach = Math.min(most, Math.max(REACH, queue.workers * 2, wanted))
  // More may run than a limit that was set later allows.
  const over = Math.max(most, queue.workers)
  const edit = (value: number | string) => {
    scale.reset()
    setDraft(value)
  }
  return (
    <form
      className="panel"
      onSubmit={(event) => {
        event.preventDefault()
        scale.mutate(
          { queue: queue.name, wanted, ...(reason.trim() && { reason: reason.trim() }) },
          {
            onSuccess: () => {
              setDraft(null)
              setReason('')
            },
          },
        )
      }}
    >
      <Stack p="md" gap="sm">
        <Group justify="space-between" gap="xs" wrap="nowrap" align="flex-start">
          <Box className="address">
            <Link href={`/queues/${encodeURIComponent(queue.name)}`} strong>
              {queue.name}
            </Link>
            <Text size="xs" c="dimmed" className="figures">
              {now
                ? t('backlog', {
                    backlog: figures.count(now.inbox + now.pending + now.retry),
                    running: figures.count(now.running),
                  })
                : ' '}
            </Text>
          </Box>
          <Text
            fz={28}
            fw={650}
            lh={1.1}
            className="figures"
            aria-label={t('workersNow', { count: queue.workers })}
            c={queue.workers === 0 ? 'var(--mantine-color-red-text)' : undefined}
          >
            {figures.count(queue.workers)}
          </Text>
        </Group>
        <Limits limits={limits} mayChange={mayChange} />
        {mayChange && (
          <>
            <Group gap="md" wrap="nowrap" align="center">
              <Slider
                flex={1}
                value={wanted}
                onChange={edit}
                min={Math.min(fewest, queue.workers)}
                max={Math.max(reach, queue.workers)}
                label={null}
                thumbLabel={t('wantedOf', { queue: queue.name })}
              />
              <NumberInput
                w={84}
                size="xs"
                aria-label={t('wantedField', { queue: queue.name })}
                value={draft ?? queue.workers}
                onChange={edit}
                min={Math.min(fewest, queue.workers)}
                max={over}
                clampBehavior="strict"
                allowDecimal={false}
                allowNegative={false}
              />
            </Group>
            <Group gap="xs" wrap="nowrap">
              <TextInput
                flex={1}
                size="xs"
                aria-label={t('reasonOf', { queue: queue.name })}
                placeholder={t('reason')}
                value={reason}
                onChange={(event) => setReason(event.currentTarget.value)}
                maxLength={500}
              />
              <Button
                type="submit"
                size="xs"
                loading={scale.isPending}
                disabled={wanted === queue.workers}
                aria-label={t('askOf', { wanted, queue: queue.name })}
              >
                {t('ask', { wanted })}
              </Button>
            </Group>
            <MutationError error={scale.error} />
          </>
        )}
      </Stack>
    </form>
  )
}

/** What requests of the queue may name, in words, with the way to change it. */
function Limits({ limits, mayChange }: { limits: LimitsView; mayChange: boolean }) {
  const t = useTranslations('scaling.limits')
  const figures = useFigures()
  const [opened, { open, close }] = useDisclosure(false)
  const { queue, fewest, most, perMinute, auto } = limits
  return (
    <Group justify="space-between" gap="xs" wrap="nowrap" align="baseline">
      <Text size="xs" c="dimmed" className="figures">
        {[
          t('bounds', { fewest: figures.count(fewest), most: figures.count(most) }),
          ...(perMinute === null ? [] : [t('rate', { perMinute: figures.count(perMinute) })]),
          ...(auto ? [t('autoOn')] : []),
        ].join(' · ')}
      </Text>
      {mayChange && (
        <>
          <Anchor
            component="button"
            type="button"
            size="xs"
            onClick={open}
            aria-label={t('buttonOf', { queue })}
            style={{ flexShrink: 0 }}
          >
            {t('button')}
          </Anchor>
          <LimitsModal limits={limits} opened={opened} close={close} />
        </>
      )}
    </Group>
  )
}
