'use client'

import { Group, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useLocale, useTranslations } from 'next-intl'
import { Link } from '../../../link'
import { PageTitle } from '../../../page-title'
import { QueryState } from '../../../query-state'
import { Tag } from '../../../tag'
import { useTRPC } from '../../../trpc'
import { ScheduleActions } from '../schedule-actions'
import { ScheduleForm } from '../schedule-form'
import { FiresTable } from './fires-table'

export function SchedulePage({ id }: { id: number }) {
  const t = useTranslations('schedules')
  const language = useLocale()
  const trpc = useTRPC()
  const query = useQuery({ ...trpc.schedules.get.queryOptions({ id, language }), refetchInterval: 5_000 })
  return (
    <QueryState query={query}>
      {(schedule) => (
        <Stack gap="md">
          <div>
            <Link href="/schedules">{t('back')}</Link>
          </div>
          <PageTitle
            title={
              <Group gap="sm" component="span" className="address">
                {schedule.name}
                <Tag color={schedule.enabled ? 'teal' : 'orange'}>
                  {t(schedule.enabled ? 'running' : 'stopped')}
                </Tag>
              </Group>
            }
            text={`${schedule.reading ?? schedule.cron} · ${schedule.zone}`}
          >
            <ScheduleActions schedule={schedule} size="sm" />
          </PageTitle>
          <Stack className="panel" p="md">
            <ScheduleForm schedule={schedule} />
          </Stack>
          <FiresTable schedule={schedule} />
        </Stack>
      )}
    </QueryState>
  )
}
