'use client'

import { Box, Button, Checkbox, Group, Stack, Table, Text, TextInput, Title } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import { useFigures } from '../../figures'
import { SearchIcon } from '../../icons'
import { KeysetPager, useKeyset } from '../../keyset-pager'
import { ListFrame, ListTable } from '../../list-frame'
import { Lines, MutationError, QueryState } from '../../query-state'
import { Tag } from '../../tag'
import { useTRPC } from '../../trpc'
import { WebAddress } from '../../web-address'
import { useMayChange } from '../may-change'
import { type Seed, useSeeds } from './use-seeds'

/** The seeds of a spider, newest first, with those chosen to be disabled or deleted. */
export function SeedsTable({ spider }: { spider: number }) {
  const t = useTranslations('seeds')
  const trpc = useTRPC()
  const figures = useFigures()
  const mayChange = useMayChange()
  const [typed, setTyped] = useState('')
  const [search] = useDebouncedValue(typed.trim(), 300)
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set())
  const keyset = useKeyset<number>()
  const { data: total } = useQuery({
    ...trpc.seeds.count.queryOptions({ spider }),
    staleTime: 30_000,
    placeholderData: keepPreviousData,
  })
  const { query, looked } = useSeeds({ spider, search, cursor: keyset.cursor })
  const choose = (ids: number[], on: boolean) =>
    setChosen((before) => {
      const after = new Set(before)
      for (const id of ids) on ? after.add(id) : after.delete(id)
      return after
    })
  return (
    <section aria-labelledby="seeds-title">
      <Group justify="space-between" mb="sm" gap="xs">
        <Title order={2} size="h5" id="seeds-title">
          {total === undefined ? t('list') : t('listOf', { count: figures.count(total) })}
        </Title>
        <TextInput
          aria-label={t('search')}
          placeholder={t('search')}
          leftSection={<SearchIcon />}
          value={typed}
          onChange={(event) => {
            setTyped(event.currentTarget.value)
            keyset.reset()
            setChosen(new Set())
          }}
          w={{ base: '100%', sm: 320 }}
          spellCheck={false}
        />
      </Group>
      {mayChange && chosen.size > 0 && (
        <Chosen spider={spider} ids={[...chosen]} done={(ids) => choose(ids, false)} />
      )}
      {query.isFetching && search !== '' && looked > 0 && (
        <Text size="sm" c="dimmed" mb="xs" role="status" className="figures">
          {t('searching', { looked: figures.count(looked), total: figures.count(total ?? looked) })}
        </Text>
      )}
      <QueryState query={query} skeleton={<Lines />}>
        {({ seeds, next }) => (
          <ListFrame
            count={seeds.length}
            empty={search ? t('notFound', { search }) : t(mayChange ? 'empty' : 'emptyViewer')}
            from="sm"
            table={<WideTable seeds={seeds} chosen={chosen} choose={mayChange ? choose : undefined} />}
            cards={seeds.map((seed) => (
              <Card key={seed.id} seed={seed} chosen={chosen} choose={mayChange ? choose : undefined} />
            ))}
          >
            <KeysetPager keyset={keyset} next={next} />
          </ListFrame>
        )}
      </QueryState>
    </section>
  )
}

interface Choice {
  chosen: ReadonlySet<number>
  /** Absent for those who may only look. */
  choose: ((ids: number[], on: boolean) => void) | undefined
}

function Chosen({ spider, ids, done }: { spider: number; ids: number[]; done: (ids: number[]) => void }) {
  const t = useTranslations('seeds')
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  const figures = useFigures()
  const [sure, setSure] = useState(false)
  const after = {
    // What was chosen while the answer was on its way stays chosen.
    onSuccess: (_: number, asked: { ids: number[] }) => {
      done(asked.ids)
      return queryClient.invalidateQueries({ queryKey: trpc.seeds.pathKey() })
    },
  }
  const enable = useMutation(trpc.seeds.enable.mutationOptions(after))
  const remove = useMutation(trpc.seeds.delete.mutationOptions(after))
  return (
    <Stack gap="xs" mb="sm">
      <Group className="panel" p="xs" gap="xs">
        <Text size="sm" fw={600} mr="auto" className="figures">
          {t('chosen', { count: figures.count(ids.length) })}
        </Text>
        <Button
          size="xs"
          variant="default"
          loading={enable.isPending}
          onClick={() => enable.mutate({ spider, ids, enabled: true })}
        >
          {t('enable')}
        </Button>
        <Button
          size="xs"
          variant="default"
          loading={enable.isPending}
          onClick={() => enable.mutate({ spider, ids, enabled: false })}
        >
          {t('disable')}
        </Button>
        <Button
          size="xs"
          color="red"
          variant={sure ? 'filled' : 'light'}
          loading={remove.isPending}
          onClick={() => (sure ? remove.mutate({ spider, ids }) : setSure(true))}
          onBlur={() => setSure(false)}
        >
          {sure ? t('deleteSure', { count: figures.count(ids.length) }) : t('delete')}
        </Button>
      </Group>
      <MutationError error={enable.error ?? remove.error} />
    </Stack>
  )
}

function WideTable({ seeds, chosen, choose }: { seeds: Seed[] } & Choice) {
  const t = useTranslations('seeds')
  const figures = useFigures()
  const ids = seeds.map((seed) => seed.id)
  const count = ids.filter((id) => chosen.has(id)).length
  return (
    <ListTable
      dense
      heads={
        <>
          {choose && (
            <Table.Th w={40}>
              <Checkbox
                size="xs"
                aria-label={t('chooseAll')}
                checked={count === ids.length}
                indeterminate={![0, ids.length].includes(count)}
                onChange={(event) => choose(ids, event.currentTarget.checked)}
              />
            </Table.Th>
          )}
          <Table.Th>{t('url')}</Table.Th>
          <Table.Th ta="right">{t('priority')}</Table.Th>
          <Table.Th ta="right">{t('depth')}</Table.Th>
          <Table.Th>{t('meta')}</Table.Th>
          <Table.Th>{t('since')}</Table.Th>
        </>
      }
    >
      {seeds.map((seed) => (
        <Table.Tr key={seed.id}>
          {choose && (
            <Table.Td>
              <Choose seed={seed} chosen={chosen} choose={choose} />
            </Table.Td>
          )}
          <Table.Td w="55%">
            <Address seed={seed} />
          </Table.Td>
          <Table.Td ta="right">{figures.count(seed.priority)}</Table.Td>
          <Table.Td ta="right">{figures.count(seed.depth)}</Table.Td>
          <Table.Td miw={180} maw={320}>
            <Text size="xs" c="dimmed" lineClamp={1} className="address" title={seed.meta ?? undefined}>
              {seed.meta}
            </Text>
          </Table.Td>
          <Table.Td style={{ whiteSpace: 'nowrap' }}>{figures.moment(seed.createdAt)}</Table.Td>
        </Table.Tr>
      ))}
    </ListTable>
  )
}

/** The same on a narrow screen. */
function Card({ seed, chosen, choose }: { seed: Seed } & Choice) {
  const figures = useFigures()
  return (
    <Group className="panel figures" p="sm" gap="sm" wrap="nowrap" align="flex-start">
      {choose && <Choose seed={seed} chosen={chosen} choose={choose} />}
      <Box miw={0}>
        <Address seed={seed} />
        <Text size="xs" c="dimmed">
          {figures.moment(seed.createdAt)}
        </Text>
      </Box>
    </Group>
  )
}

function Choose({ seed, chosen, choose }: { seed: Seed } & Required<Choice>) {
  const t = useTranslations('seeds')
  return (
    <Checkbox
      size="xs"
      aria-label={t('choose', { url: seed.url })}
      checked={chosen.has(seed.id)}
      onChange={(event) => choose?.([seed.id], event.currentTarget.checked)}
    />
  )
}

function Address({ seed }: { seed: Seed }) {
  const t = useTranslations('seeds')
  return (
    <Group gap="xs" wrap="nowrap">
      <WebAddress url={seed.url} dimmed={!seed.enabled} />
      {!seed.enabled && <Tag color="gray">{t('disabled')}</Tag>}
    </Group>
  )
}
