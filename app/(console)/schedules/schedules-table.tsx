'use client'

import { Group, Stack, Table, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useLocale, useTranslations } from 'next-intl'
import { useState } from 'react'
import type { ScheduleView } from '../../../server/api/schedule-views'
import { useFigures } from '../../figures'
import { KeysetPager, useKeyset } from '../../keyset-pager'
import { Link } from '../../link'
import { ListFrame, ListTable } from '../../list-frame'
import { QueryState } from '../../query-state'
import { Tag } from '../../tag'
import { useTRPC } from '../../trpc'
import { EnableMatching } from './enable-matching'
import { FireResult } from './fire-result'
import { ScheduleActions } from './schedule-actions'
import { SCHEDULES_PAGE } from './schedules-page'

/** Schedules by name, searched by it; all that match are stopped or resumed with one click. */
export function SchedulesTable() {
  const t = useTranslations('schedules')
  const language = useLocale()
  const trpc = useTRPC()
  const keyset = useKeyset<{ name: string; id: number }>()
  const [text, setText] = useState('')
  const [search] = useDebouncedValue(text.trim(), 250)
  const query = useQuery({
    ...trpc.schedules.list.queryOptions({
      limit: SCHEDULES_PAGE,
      language,
      ...(search && { search }),
      ...(keyset.cursor && { cursor: keyset.cursor }),
    }),
    placeholderData: keepPreviousData,
    refetchInterval: 5_000,
  })
  return (
    <Stack gap="sm">
      <Group justify="space-between" gap="sm">
        <TextInput
          size="xs"
          w={260}
          aria-label={t('search')}
          placeholder={t('search')}
          value={text}
          onChange={(event) => {
            setText(event.currentTarget.value)
            keyset.reset()
          }}
          autoComplete="off"
        />
        {query.data && <EnableMatching search={search} total={query.data.total} />}
      </Group>
      <QueryState query={query}>
        {({ schedules, next }) => (
          <ListFrame
            count={schedules.length}
            empty={t(search ? 'noMatch' : 'empty')}
            table={<WideTable schedules={schedules} />}
            cards={schedules.map((schedule) => <Card key={schedule.id} schedule={schedule} />)}
          >
            <KeysetPager keyset={keyset} next={next} order="name" />
          </ListFrame>
        )}
      </QueryState>
    </Stack>
  )
}

function WideTable({ schedules }: { schedules: ScheduleView[] }) {
  const t = useTranslations('schedules')
  return (
    <ListTable
      heads={
        <>
          <Table.Th>{t('schedule')}</Table.Th>
          <Table.Th>{t('when')}</Table.Th>
          <Table.Th>{t('runs')}</Table.Th>
          <Table.Th>{t('next')}</Table.Th>
          <Table.Th>{t('last')}</Table.Th>
          <Table.Th aria-label={t('actions')} />
        </>
      }
    >
      {schedules.map((schedule) => (
        <Table.Tr key={schedule.id}>
          <Table.Td className="address" miw={140}>
            <Name schedule={schedule} />
          </Table.Td>
          <Table.Td>
            <When schedule={schedule} />
          </Table.Td>
          <Table.Td className="name" title={schedule.queue}>
            {schedule.spider ?? t('spiderGone')}
            <Text size="xs" c="dimmed" className="name">
              {schedule.queue}
            </Text>
          </Table.Td>
          <Table.Td style={{ whiteSpace: 'nowrap' }}>
            <NextFire schedule={schedule} />
          </Table.Td>
          <Table.Td>{schedule.last && <FireResult fire={schedule.last} />}</Table.Td>
          <Table.Td>
            <ScheduleActions schedule={schedule} size="compact-sm" />
          </Table.Td>
        </Table.Tr>
      ))}
    </ListTable>
  )
}

/** The same on a narrow screen. */
function Card({ schedule }: { schedule: ScheduleView }) {
  const t = useTranslations('schedules')
  return (
    <Stack className="panel figures" p="sm" gap={6}>
      <Group justify="space-between" gap="xs">
        <Name schedule={schedule} />
        <ScheduleActions schedule={schedule} size="compact-sm" />
      </Group>
      <When schedule={schedule} />
      <Text size="xs" c="dimmed" className="address">
        {t('spiderOn', { spider: schedule.spider ?? t('spiderGone'), queue: schedule.queue })}
      </Text>
      <Text size="sm" component="div">
        <NextFire schedule={schedule} />
      </Text>
      {schedule.last && <FireResult fire={schedule.last} />}
    </Stack>
  )
}

function Name({ schedule }: { schedule: ScheduleView }) {
  return (
    <Link href={`/schedules/${schedule.id}`} strong>
      {schedule.name}
    </Link>
  )
}

function When({ schedule }: { schedule: ScheduleView }) {
  return (
    <>
      <Text size="sm">{schedule.reading ?? schedule.cron}</Text>
      <Text size="xs" c="dimmed">
        <code>{schedule.cron}</code> · {schedule.zone}
      </Text>
    </>
  )
}

function NextFire({ schedule }: { schedule: ScheduleView }) {
  const t = useTranslations('schedules')
  const figures = useFigures()
  const [next] = schedule.next
  if (!schedule.enabled) return <Tag color="orange">{t('stopped')}</Tag>
  if (next === undefined) return null
  return (
    <span suppressHydrationWarning>
      {t('in', { duration: figures.duration(Math.max(0, next - Date.now())) })}
      <Text size="xs" c="dimmed" component="span" display="block">
        {figures.inZone(next, schedule.zone)}
      </Text>
    </span>
  )
}
