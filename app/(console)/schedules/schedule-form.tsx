'use client'

import {
  Alert,
  Autocomplete,
  Button,
  Group,
  Radio,
  Select,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import type { ScheduleView } from '../../../server/api/schedule-views'
import { MutationError, QueryState } from '../../query-state'
import { useTRPC } from '../../trpc'
import { useMayChange } from '../may-change'
import { CronReading } from './cron-reading'

const OVERLAP = ['skip', 'queue', 'parallel'] as const
const MISSED = ['once', 'skip', 'all'] as const
/** What most schedules are, one click each. */
const PRESETS = [
  ['hourly', '0 * * * *'],
  ['daily', '30 2 * * *'],
  ['weekdays', '0 9 * * 1-5'],
  ['weekly', '0 3 * * 1'],
  ['monthly', '0 4 1 * *'],
] as const

/** Makes a schedule, or changes one. */
export function ScheduleForm({ schedule }: { schedule?: ScheduleView }) {
  const trpc = useTRPC()
  const choices = useQuery({ ...trpc.schedules.choices.queryOptions(), staleTime: 60_000 })
  return (
    <QueryState query={choices}>
      {(offered) => <Fields key={schedule?.id} schedule={schedule} offered={offered} />}
    </QueryState>
  )
}

interface Offered {
  spiders: { id: number; name: string }[]
  queues: string[]
  zones: string[]
  zone: string
  queue: string
}

function Fields({ schedule, offered }: { schedule: ScheduleView | undefined; offered: Offered }) {
  const t = useTranslations('scheduleForm')
  const trpc = useTRPC()
  const router = useRouter()
  const queryClient = useQueryClient()
  const mayChange = useMayChange()
  const [form, setForm] = useState({
    name: schedule?.name ?? '',
    spider: schedule
      ? String(schedule.spiderId)
      : offered.spiders.length === 1
        ? String(offered.spiders[0]!.id)
        : null,
    queue: schedule?.queue ?? offered.queue,
    cron: schedule?.cron ?? '30 2 * * *',
    zone: schedule?.zone ?? offered.zone,
    overlap: schedule?.overlap ?? 'skip',
    missed: schedule?.missed ?? 'once',
  })
  const set = <K extends keyof typeof form>(key: K, value: (typeof form)[K]) => {
    save.reset()
    setForm((before) => ({ ...before, [key]: value }))
  }
  const save = useMutation(
    trpc.schedules.save.mutationOptions({
      onSuccess: async ({ id }) => {
        await queryClient.invalidateQueries({ queryKey: trpc.schedules.pathKey() })
        if (!schedule) router.push(`/schedules/${id}`)
      },
    }),
  )
  const { spider } = form
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (spider === null) return
        save.mutate({
          ...form,
          spider: Number(spider),
          ...(schedule && { id: schedule.id, enabled: schedule.enabled }),
        })
      }}
    >
      <fieldset disabled={!mayChange} className="bare">
        <Stack gap="md">
          <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="sm">
            <TextInput
              label={t('name')}
              value={form.name}
              onChange={(event) => set('name', event.currentTarget.value)}
              maxLength={191}
              required
              withAsterisk={false}
            />
            <Select
              label={t('spider')}
              data={offered.spiders.map(({ id, name }) => ({ value: String(id), label: name }))}
              value={form.spider}
              onChange={(value) => set('spider', value)}
              searchable
              allowDeselect={false}
              nothingFoundMessage={t('nothingFound')}
              required
              withAsterisk={false}
            />
            <Autocomplete
              label={t('queue')}
              data={offered.queues}
              value={form.queue}
              onChange={(value) => set('queue', value)}
              required
              withAsterisk={false}
            />
          </SimpleGrid>
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
            <Stack gap={6}>
              <TextInput
                label={t('cron')}
                description={t('cronText')}
                value={form.cron}
                onChange={(event) => set('cron', event.currentTarget.value)}
                maxLength={120}
                spellCheck={false}
                autoComplete="off"
                required
                withAsterisk={false}
                styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
              />
              <Group gap={4}>
                {PRESETS.map(([key, cron]) => (
                  <Button
                    key={key}
                    size="compact-xs"
                    variant={form.cron.trim() === cron ? 'light' : 'default'}
                    onClick={() => set('cron', cron)}
                  >
                    {t(`presets.${key}`)}
                  </Button>
                ))}
              </Group>
            </Stack>
            <Select
              label={t('zone')}
              description={t('zoneText')}
              data={offered.zones}
              value={form.zone}
              onChange={(value) => value && set('zone', value)}
              searchable
              allowDeselect={false}
              limit={100}
              nothingFoundMessage={t('nothingFound')}
            />
          </SimpleGrid>
          <CronReading cron={form.cron} zone={form.zone} />
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md">
            <Radio.Group
              label={t('overlap')}
              value={form.overlap}
              onChange={(value) => set('overlap', value as (typeof OVERLAP)[number])}
            >
              <Stack gap="xs" mt={6}>
                {OVERLAP.map((value) => (
                  <Radio
                    key={value}
                    value={value}
                    label={t(`overlaps.${value}`)}
                    description={t(`overlapText.${value}`)}
                  />
                ))}
              </Stack>
            </Radio.Group>
            <Radio.Group
              label={t('missed')}
              value={form.missed}
              onChange={(value) => set('missed', value as (typeof MISSED)[number])}
            >
              <Stack gap="xs" mt={6}>
                {MISSED.map((value) => (
                  <Radio
                    key={value}
                    value={value}
                    label={t(`misseds.${value}`)}
                    description={t(`missedText.${value}`)}
                  />
                ))}
              </Stack>
            </Radio.Group>
          </SimpleGrid>
          <MutationError error={save.error} />
          {mayChange && (
            <Group gap="sm">
              <Button type="submit" loading={save.isPending} disabled={spider === null}>
                {t(schedule ? 'save' : 'create')}
              </Button>
              {schedule && (
                <Text size="sm" c="dimmed">
                  {t('fromNow')}
                </Text>
              )}
            </Group>
          )}
          {schedule && save.isSuccess && (
            <Alert color="teal" variant="light" role="status" py="xs">
              {t('saved')}
            </Alert>
          )}
        </Stack>
      </fieldset>
    </form>
  )
}
