'use client'

import { Alert, Button, Group, NumberInput, SimpleGrid, Stack, Switch, Text, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import type { QueueView } from '../../../../server/api/queue-views'
import { useFigures } from '../../../figures'
import { MutationError } from '../../../query-state'
import { useTRPC } from '../../../trpc'
import { useMayChange } from '../../may-change'
import { QuietFields } from './quiet-fields'

/** A field that may be empty while it is edited. */
type Field = number | string
type Draft = {
  delay?: Field
  perHost?: Field
  concurrency?: Field
  maxRunning?: Field
  address?: Field
} & Partial<Pick<QueueView, 'adaptive' | 'quiet'>>

/** The queue's limits. Nothing restarts: workers take new ones with their next claim. */
export function SettingsForm({ queue }: { queue: QueueView }) {
  const t = useTranslations('queueSettings')
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  const figures = useFigures()
  const mayChange = useMayChange()
  // Only what was edited; the rest follows the queue, which a colleague may change meanwhile.
  const [draft, setDraft] = useState<Draft>({})
  const save = useMutation(
    trpc.queues.configure.mutationOptions({
      onSuccess: async () => {
        await queryClient.invalidateQueries({ queryKey: trpc.queues.pathKey() })
        setDraft({})
      },
    }),
  )
  const delay = draft.delay ?? queue.delayMs / 1000
  const perHost = draft.perHost ?? queue.perHost
  const concurrency = draft.concurrency ?? queue.concurrency
  const maxRunning = draft.maxRunning ?? queue.maxRunning ?? ''
  const address = draft.address ?? (queue.addressDelayMs === null ? '' : queue.addressDelayMs / 1000)
  const edit =
    <K extends keyof Draft>(key: K) =>
    (value: Draft[K]) => {
      save.reset()
      setDraft((before) => ({ ...before, [key]: value }))
    }
  const wanted = {
    delayMs: Math.round(Number(delay) * 1000),
    perHost: Number(perHost),
    concurrency: Number(concurrency),
    maxRunning: maxRunning === '' ? null : Number(maxRunning),
    addressDelayMs: address === '' || Number(address) === 0 ? null : Math.round(Number(address) * 1000),
    adaptive: draft.adaptive ?? queue.adaptive,
    quiet: draft.quiet === undefined ? queue.quiet : draft.quiet,
  }
  const changed = (Object.keys(wanted) as (keyof typeof wanted)[]).some(
    (key) => JSON.stringify(wanted[key]) !== JSON.stringify(queue[key]),
  )
  const whole = delay !== '' && perHost !== '' && concurrency !== ''
  const field = { readOnly: !mayChange, clampBehavior: 'strict' as const, allowNegative: false }
  const least = wanted.delayMs > 0 || wanted.perHost < 1 ? null : wanted.perHost
  return (
    <Stack className="panel" p="md" gap="sm" component="section" aria-labelledby="settings-title">
      <Title order={2} size="h5" id="settings-title">
        {t('title')}
      </Title>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (whole && changed) save.mutate({ name: queue.name, settings: wanted })
        }}
      >
        <Stack gap="sm">
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm" verticalSpacing="sm">
            <NumberInput
              {...field}
              label={t('delay')}
              description={t('delayText')}
              value={delay}
              onChange={edit('delay')}
              min={0}
              max={86_400}
              decimalScale={3}
              step={0.5}
              suffix={` ${t('secondsUnit')}`}
            />
            <NumberInput
              {...field}
              label={t('perHost')}
              description={t('perHostText')}
              value={perHost}
              onChange={edit('perHost')}
              min={1}
              max={1000}
              allowDecimal={false}
            />
            <NumberInput
              {...field}
              label={t('concurrency')}
              description={t('concurrencyText')}
              value={concurrency}
              onChange={edit('concurrency')}
              min={1}
              max={1000}
              allowDecimal={false}
            />
            <NumberInput
              {...field}
              label={t('maxRunning')}
              description={t('maxRunningText')}
              placeholder={t('noLimit')}
              value={maxRunning}
              onChange={edit('maxRunning')}
              min={1}
              max={1_000_000}
              allowDecimal={false}
            />
            <NumberInput
              {...field}
              label={t('address')}
              description={t('addressText')}
              placeholder={t('noLimit')}
              value={address}
              onChange={edit('address')}
              min={0}
              max={86_400}
              decimalScale={3}
              step={0.5}
              suffix={` ${t('secondsUnit')}`}
            />
          </SimpleGrid>
          <Switch
            label={t('adaptive')}
            description={t('adaptiveText')}
            checked={wanted.adaptive}
            onChange={(event) => edit('adaptive')(event.currentTarget.checked)}
            disabled={!mayChange}
          />
          <QuietFields quiet={wanted.quiet} setQuiet={edit('quiet')} readOnly={!mayChange} />
          <Text size="xs" c="dimmed" className="figures">
            {least === null
              ? t('meansDelay', { rate: figures.rate(wanted.delayMs > 0 ? 60_000 / wanted.delayMs : null) })
              : t('meansHost', { perHost: figures.count(least) })}
          </Text>
          <MutationError error={save.error} />
          {mayChange && (
            <Group gap="sm">
              <Button type="submit" disabled={!changed || !whole} loading={save.isPending}>
                {t('save')}
              </Button>
              <Text size="sm" c="dimmed">
                {t('live')}
              </Text>
            </Group>
          )}
          {save.isSuccess && !changed && (
            <Alert color="teal" variant="light" role="status" py="xs">
              {t('saved')}
            </Alert>
          )}
        </Stack>
      </form>
    </Stack>
  )
}
