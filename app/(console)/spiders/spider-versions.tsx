'use client'

import { Box, Button, Group, Stack, Table, Text, Title } from '@mantine/core'
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { diffLines } from 'diff'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import type { Spider } from '../../../core/spider'
import { useFigures } from '../../figures'
import { KeysetPager, useKeyset } from '../../keyset-pager'
import { ListTable } from '../../list-frame'
import { MutationError, QueryState } from '../../query-state'
import { useTRPC } from '../../trpc'
import { useMayChange } from '../may-change'

/** What the spider was before: who changed it when, what differs from now, and the way back. */
export function SpiderVersions({ spider }: { spider: { id: number; version: number; definition: Spider } }) {
  const t = useTranslations('spiderVersions')
  const trpc = useTRPC()
  const figures = useFigures()
  const keyset = useKeyset<number>()
  const [chosen, setChosen] = useState<number | null>(null)
  const query = useQuery({
    ...trpc.spiders.versions.queryOptions({
      spider: spider.id,
      limit: 20,
      ...(keyset.cursor && { cursor: keyset.cursor }),
    }),
    placeholderData: keepPreviousData,
  })
  return (
    <QueryState query={query}>
      {({ versions, next }) => (
        <Stack gap="md">
          <Box className="panel" style={{ overflowX: 'auto' }}>
            <ListTable
              heads={
                <>
                  <Table.Th>{t('version')}</Table.Th>
                  <Table.Th>{t('by')}</Table.Th>
                  <Table.Th>{t('at')}</Table.Th>
                  <Table.Th aria-label={t('compare')} />
                </>
              }
            >
              {versions.map((one) => (
                <Table.Tr key={one.version}>
                  <Table.Td>{figures.count(one.version)}</Table.Td>
                  <Table.Td className="name">{one.author}</Table.Td>
                  <Table.Td style={{ whiteSpace: 'nowrap' }}>{figures.moment(one.createdAt)}</Table.Td>
                  <Table.Td ta="right">
                    {one.version === spider.version ? (
                      <Text size="xs" c="dimmed">
                        {t('now')}
                      </Text>
                    ) : (
                      <Button
                        size="compact-sm"
                        variant={chosen === one.version ? 'light' : 'default'}
                        onClick={() => setChosen(one.version)}
                        aria-label={t('compareLabel', { version: String(one.version) })}
                      >
                        {t('compare')}
                      </Button>
                    )}
                  </Table.Td>
                </Table.Tr>
              ))}
            </ListTable>
          </Box>
          <KeysetPager keyset={keyset} next={next} />
          {chosen !== null && <Difference key={chosen} spider={spider} version={chosen} />}
        </Stack>
      )}
    </QueryState>
  )
}

function Difference({
  spider,
  version,
}: {
  spider: { id: number; version: number; definition: Spider }
  version: number
}) {
  const t = useTranslations('spiderVersions')
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  const mayChange = useMayChange()
  const query = useQuery(trpc.spiders.version.queryOptions({ spider: spider.id, version }))
  const restore = useMutation(
    trpc.spiders.save.mutationOptions({
      onSuccess: () => queryClient.invalidateQueries({ queryKey: trpc.spiders.pathKey() }),
    }),
  )
  return (
    <QueryState query={query}>
      {(definition) => (
        <Stack className="panel" p="md" gap="sm">
          <Group justify="space-between" gap="xs">
            <Title order={2} size="h5">
              {t('difference', { version: String(version), now: String(spider.version) })}
            </Title>
            {mayChange && (
              <Button
                size="xs"
                loading={restore.isPending}
                onClick={() =>
                  restore.mutate({
                    definition: definition as Record<string, unknown>,
                    from: spider.version,
                  })
                }
              >
                {t('restore', { version: String(version) })}
              </Button>
            )}
          </Group>
          <MutationError error={restore.error} />
          <Lines before={textOf(definition)} now={textOf(spider.definition)} />
        </Stack>
      )}
    </QueryState>
  )
}

const textOf = (spider: Spider) => JSON.stringify(spider, null, 2)

function Lines({ before, now }: { before: string; now: string }) {
  const t = useTranslations('spiderVersions')
  if (before === now)
    return (
      <Text size="sm" c="dimmed">
        {t('same')}
      </Text>
    )
  const lines = diffLines(before, now).flatMap(({ value, added, removed }, part) =>
    value
      .replace(/\n$/, '')
      .split('\n')
      .map((line, n) => ({ key: `${part}-${n}`, line, sign: added ? '+' : removed ? '−' : ' ' })),
  )
  return (
    <Box component="pre" m={0} fz={13} ff="monospace" style={{ overflowX: 'auto' }}>
      {lines.map(({ key, line, sign }) => (
        <Box
          key={key}
          component="span"
          display="block"
          px={6}
          bg={
            sign === '+'
              ? 'var(--mantine-color-teal-light)'
              : sign === '−'
                ? 'var(--mantine-color-red-light)'
                : undefined
          }
        >
          {`${sign} ${line}`}
        </Box>
      ))}
    </Box>
  )
}
