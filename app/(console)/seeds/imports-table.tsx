'use client'

import { Anchor, Group, Stack, Table, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { inferRouterOutputs } from '@trpc/server'
import { useTranslations } from 'next-intl'
import type { AppRouter } from '../../../server/api/root'
import { useFigures } from '../../figures'
import { ListFrame, ListTable } from '../../list-frame'
import { Tag } from '../../tag'
import { useTRPC } from '../../trpc'

type Import = inferRouterOutputs<AppRouter>['seeds']['imports'][number]

const COLOURS = { running: 'indigo', finished: 'teal', failed: 'red' } as const

/** What was uploaded for a spider lately, by whom, and what became of it. */
export function ImportsTable({ spider }: { spider: number }) {
  const t = useTranslations('imports')
  const trpc = useTRPC()
  const { data: imports } = useQuery({
    ...trpc.seeds.imports.queryOptions({ spider, limit: 10 }),
    refetchInterval: ({ state }) => (state.data?.some((one) => one.state === 'running') ? 1_000 : 10_000),
  })
  if (!imports || imports.length === 0) return null
  return (
    <section aria-labelledby="imports-title">
      <Title order={2} size="h5" id="imports-title" mb="sm">
        {t('title')}
      </Title>
      <ListFrame
        table={
          <ListTable
            heads={
              <>
                <Table.Th>{t('file')}</Table.Th>
                <Table.Th>{t('state')}</Table.Th>
                <Table.Th ta="right">{t('accepted')}</Table.Th>
                <Table.Th ta="right">{t('duplicates')}</Table.Th>
                <Table.Th ta="right">{t('rejected')}</Table.Th>
                <Table.Th>{t('by')}</Table.Th>
                <Table.Th>{t('started')}</Table.Th>
              </>
            }
          >
            {imports.map((one) => (
              <Row key={one.id} one={one} />
            ))}
          </ListTable>
        }
        cards={imports.map((one) => <Card key={one.id} one={one} />)}
      />
    </section>
  )
}

function Row({ one }: { one: Import }) {
  const figures = useFigures()
  return (
    <Table.Tr>
      <Table.Td w="100%">
        <Text size="sm" className="address">
          {one.fileName}
        </Text>
        <Fault one={one} />
      </Table.Td>
      <Table.Td>
        <State one={one} />
      </Table.Td>
      <Table.Td ta="right">{figures.count(one.accepted)}</Table.Td>
      <Table.Td ta="right">{figures.count(one.duplicates)}</Table.Td>
      <Table.Td ta="right">
        <Rejected one={one} />
      </Table.Td>
      <Table.Td className="name" title={one.author ?? undefined}>
        {one.author}
      </Table.Td>
      <Table.Td style={{ whiteSpace: 'nowrap' }}>{figures.moment(one.createdAt)}</Table.Td>
    </Table.Tr>
  )
}

/** The same on a narrow screen. */
function Card({ one }: { one: Import }) {
  const t = useTranslations('imports')
  const figures = useFigures()
  return (
    <Stack className="panel figures" p="sm" gap={4}>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Text size="sm" className="address">
          {one.fileName}
        </Text>
        <State one={one} />
      </Group>
      <Fault one={one} />
      <Group gap="md">
        {(['accepted', 'duplicates'] as const).map((key) => (
          <Text key={key} size="xs">
            {t(key)} {figures.count(one[key])}
          </Text>
        ))}
        <Text size="xs" component="span">
          {t('rejected')} <Rejected one={one} />
        </Text>
      </Group>
      <Text size="xs" c="dimmed" className="address">
        {one.author} · {figures.moment(one.createdAt)}
      </Text>
    </Stack>
  )
}

function State({ one }: { one: Import }) {
  const t = useTranslations('imports')
  return <Tag color={COLOURS[one.state]}>{t(`states.${one.state}`)}</Tag>
}

function Fault({ one }: { one: Import }) {
  if (!one.error) return null
  return (
    <Text size="xs" c="dimmed" className="address">
      {one.error}
    </Text>
  )
}

/** The number leads to the lines. */
function Rejected({ one }: { one: Import }) {
  const t = useTranslations('imports')
  const figures = useFigures()
  if (one.rejected === 0 || one.state === 'running') return figures.count(one.rejected)
  return (
    <Anchor
      inherit
      href={`/api/seeds/rejected/${one.id}`}
      download
      aria-label={t('download', { file: one.fileName })}
    >
      {figures.count(one.rejected)}
    </Anchor>
  )
}
