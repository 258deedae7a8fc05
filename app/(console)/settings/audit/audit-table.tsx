'use client'

import { Button, Group, Menu, NativeSelect, Stack, Table, Text, TextInput } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import type { AppRouter } from '../../../../server/api/root'
import { useFigures } from '../../../figures'
import { KeysetPager, useKeyset } from '../../../keyset-pager'
import { ListFrame, ListTable } from '../../../list-frame'
import { QueryState } from '../../../query-state'
import { SectionHead } from '../../../section-head'
import { useTRPC } from '../../../trpc'
import { useActionWords } from './action-words'

type Change = inferRouterOutputs<AppRouter>['changes']['list']['changes'][number]
type Input = inferRouterInputs<AppRouter>['changes']['list']
type Filter = Pick<Input, 'actor' | 'action' | 'subject' | 'from'>

const DAY_MS = 86_400_000
const DAYS = [1, 7, 30] as const

/** Who changed what, newest first: narrowed to a person, an action, a thing or a time, and downloaded as narrowed. */
export function AuditTable() {
  const t = useTranslations('audit')
  const trpc = useTRPC()
  const figures = useFigures()
  const actions = useActionWords()
  const [filter, setFilter] = useState<Filter>({})
  const keyset = useKeyset<NonNullable<Input['cursor']>>()
  const query = useQuery({
    ...trpc.changes.list.queryOptions({
      limit: 50,
      ...filter,
      ...(keyset.cursor && { cursor: keyset.cursor }),
    }),
    placeholderData: keepPreviousData,
  })
  const narrow = (next: Filter) => {
    keyset.reset()
    setFilter(next)
  }
  return (
    <Stack gap="sm" component="section">
      <SectionHead title={t('title')} text={t('text')}>
        <Download filter={filter} />
      </SectionHead>
      <FilterBar narrow={narrow} />
      <QueryState query={query}>
        {({ changes, next }) => (
          <ListFrame
            count={changes.length}
            empty={t('none')}
            table={
              <ListTable
                dense
                heads={
                  <>
                    <Table.Th>{t('when')}</Table.Th>
                    <Table.Th>{t('actor')}</Table.Th>
                    <Table.Th>{t('action')}</Table.Th>
                    <Table.Th>{t('subject')}</Table.Th>
                    <Table.Th>{t('detail')}</Table.Th>
                  </>
                }
              >
                {changes.map((change) => (
                  <Table.Tr key={change.id}>
                    <Table.Td style={{ whiteSpace: 'nowrap' }}>{figures.moment(change.at)}</Table.Td>
                    <Table.Td className="address">{change.actor}</Table.Td>
                    <Table.Td>{actions.word(change.action)}</Table.Td>
                    <Table.Td className="address">
                      <Subject change={change} />
                    </Table.Td>
                    <Table.Td className="address" w="35%">
                      <Detail change={change} />
                    </Table.Td>
                  </Table.Tr>
                ))}
              </ListTable>
            }
            cards={changes.map((change) => (
              <Stack key={change.id} className="panel figures" p="sm" gap={4}>
                <Text size="sm" fw={600}>
                  {actions.word(change.action)} · <Subject change={change} />
                </Text>
                <Text size="xs" c="dimmed" className="address">
                  {figures.moment(change.at)} · {change.actor}
                </Text>
                <Detail change={change} />
              </Stack>
            ))}
          >
            <KeysetPager keyset={keyset} next={next} />
          </ListFrame>
        )}
      </QueryState>
    </Stack>
  )
}

/** By its name; its id, by which the list can be narrowed, when it is pointed at. */
function Subject({ change: { subject, subjectName } }: { change: Change }) {
  return subjectName === null ? subject : <span title={subject}>{subjectName}</span>
}

function Detail({ change: { detail } }: { change: Change }) {
  if (detail === null || detail === undefined) return null
  const text =
    typeof detail === 'object'
      ? Object.entries(detail)
          .map(([key, value]) => `${key}: ${typeof value === 'object' ? JSON.stringify(value) : value}`)
          .join(', ')
      : String(detail)
  return (
    <Text size="xs" c="dimmed" lineClamp={2} title={text} className="address">
      {text}
    </Text>
  )
}

function FilterBar({ narrow }: { narrow: (filter: Filter) => void }) {
  const t = useTranslations('audit')
  const actions = useActionWords()
  const [actor, setActor] = useState('')
  const [action, setAction] = useState('')
  const [subject, setSubject] = useState('')
  const [days, setDays] = useState('')
  const wanted = (values: { action: string; days: string }): Filter => ({
    ...(actor.trim() && { actor: actor.trim() }),
    ...(subject.trim() && { subject: subject.trim() }),
    ...(values.action && { action: values.action as NonNullable<Filter['action']> }),
    ...(values.days && { from: Date.now() - Number(values.days) * DAY_MS }),
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        narrow(wanted({ action, days }))
      }}
    >
      <Group gap="xs" align="flex-end">
        <TextInput
          size="xs"
          label={t('actor')}
          placeholder={t('actorHint')}
          value={actor}
          maxLength={191}
          onChange={(event) => setActor(event.currentTarget.value)}
        />
        <NativeSelect
          size="xs"
          label={t('action')}
          data={[{ value: '', label: t('any') }, ...actions.list]}
          value={action}
          onChange={(event) => {
            setAction(event.currentTarget.value)
            narrow(wanted({ action: event.currentTarget.value, days }))
          }}
        />
        <TextInput
          size="xs"
          label={t('subject')}
          placeholder={t('subjectHint')}
          value={subject}
          maxLength={191}
          onChange={(event) => setSubject(event.currentTarget.value)}
        />
        <NativeSelect
          size="xs"
          label={t('when')}
          data={[
            { value: '', label: t('ever') },
            ...DAYS.map((one) => ({ value: String(one), label: t('lastDays', { days: one }) })),
          ]}
          value={days}
          onChange={(event) => {
            setDays(event.currentTarget.value)
            narrow(wanted({ action, days: event.currentTarget.value }))
          }}
        />
        <Button size="xs" variant="default" type="submit">
          {t('search')}
        </Button>
      </Group>
    </form>
  )
}

function Download({ filter }: { filter: Filter }) {
  const t = useTranslations('audit')
  const href = (format: string) => {
    const entries = Object.entries(filter).map(([key, value]) => [key, String(value)])
    return `/api/changes?${new URLSearchParams([...entries, ['format', format]])}`
  }
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <Button size="xs" variant="default">
          {t('download')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component="a" href={href('csv')} download>
          {t('csv')}
        </Menu.Item>
        <Menu.Item component="a" href={href('jsonl')} download>
          {t('jsonl')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
