'use client'

import { Autocomplete, Button, Group, NumberInput, Select, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import type { PageFilter } from '../../../../server/services/page-filter'
import { SearchIcon } from '../../../icons'
import { useTRPC } from '../../../trpc'
import { useReason } from './reason'

const HALF = { base: 'calc(50% - 5px)', sm: 170 }

/** Everything but the state, which has its own control. What is typed counts a moment after the last key. */
export function FilterBar({
  id,
  live,
  filter,
  setFilter,
}: {
  id: number
  live: boolean
  filter: PageFilter
  setFilter: (next: PageFilter) => void
}) {
  const t = useTranslations('pages')
  const trpc = useTRPC()
  const reason = useReason()
  const [url, setUrl] = useState(filter.url ?? '')
  const [host, setHost] = useState(filter.host ?? '')
  const [depth, setDepth] = useState<number | string>(filter.depth ?? '')
  const { data: facets } = useQuery({
    ...trpc.runs.facets.queryOptions({ id }),
    staleTime: live ? 10_000 : Number.POSITIVE_INFINITY,
  })
  const later = useDebouncedCallback(setFilter, 300)
  const statuses = [...new Set([...(facets?.statuses ?? []), ...(filter.status ? [filter.status] : [])])]
  const reasons = [...new Set([...(facets?.reasons ?? []), ...(filter.reason ? [filter.reason] : [])])]
  const { state: _, ...narrowed } = filter
  return (
    <Group gap="xs" mb="sm" role="search" aria-label={t('filterBar')}>
      <TextInput
        size="xs"
        aria-label={t('search')}
        placeholder={t('search')}
        leftSection={<SearchIcon />}
        value={url}
        onChange={(event) => {
          setUrl(event.currentTarget.value)
          later({ ...filter, url: event.currentTarget.value.trim() || undefined })
        }}
        maxLength={500}
        spellCheck={false}
        w={{ base: '100%', sm: 260 }}
      />
      <Autocomplete
        size="xs"
        aria-label={t('host')}
        placeholder={t('host')}
        data={facets?.hosts ?? []}
        limit={50}
        value={host}
        onChange={(value) => {
          setHost(value)
          later({ ...filter, host: value.trim() || undefined })
        }}
        maxLength={300}
        spellCheck={false}
        w={HALF}
      />
      <Select
        size="xs"
        aria-label={t('status')}
        placeholder={t('status')}
        data={statuses.map(String)}
        value={filter.status === undefined ? null : String(filter.status)}
        onChange={(value) => setFilter({ ...filter, status: value === null ? undefined : Number(value) })}
        clearable
        searchable
        w={HALF}
      />
      <Select
        size="xs"
        aria-label={t('class')}
        placeholder={t('class')}
        data={reasons}
        value={filter.reason ?? null}
        onChange={(value) => setFilter({ ...filter, reason: value ?? undefined })}
        renderOption={({ option }) => (
          <Stack gap={0}>
            <Text size="xs" fw={600}>
              {option.value}
            </Text>
            <Text size="xs" c="dimmed">
              {reason({ reason: option.value, detail: null })}
            </Text>
          </Stack>
        )}
        comboboxProps={{ width: 300, position: 'bottom-start' }}
        clearable
        searchable
        w={HALF}
      />
      <NumberInput
        size="xs"
        aria-label={t('depth')}
        placeholder={t('depth')}
        value={depth}
        onChange={(value) => {
          setDepth(value)
          later({ ...filter, depth: value === '' ? undefined : Number(value) })
        }}
        min={0}
        max={1_000_000}
        allowDecimal={false}
        allowNegative={false}
        hideControls
        w={{ base: 'calc(50% - 5px)', sm: 80 }}
      />
      {Object.values(narrowed).some((value) => value !== undefined) && (
        <Button
          size="xs"
          variant="subtle"
          onClick={() => {
            setUrl('')
            setHost('')
            setDepth('')
            setFilter({ state: filter.state })
          }}
        >
          {t('clear')}
        </Button>
      )}
    </Group>
  )
}
