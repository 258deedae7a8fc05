'use client'

import { Group, MultiSelect, Stack, Table, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import { SearchIcon } from '../../../../icons'
import { KeysetPager, useKeyset } from '../../../../keyset-pager'
import { ListFrame, ListTable } from '../../../../list-frame'
import { QueryState } from '../../../../query-state'
import { WebAddress } from '../../../../web-address'
import { DownloadItems } from './download-items'
import { type Item, type ItemCursor, useItems } from './use-items'

/** Items of one kind in the columns chosen. What a page says is text here, whatever it looks like. */
export function ItemsTable({ run, kind }: { run: number; kind: { name: string; fields: string[] } }) {
  const t = useTranslations('items')
  const [typed, setTyped] = useState('')
  const [search] = useDebouncedValue(typed.trim(), 300)
  const [chosen, setChosen] = useState<string[]>([])
  const keyset = useKeyset<ItemCursor>()
  const query = useItems({ run, kind: kind.name, search, cursor: keyset.cursor })
  // In the order of the spider, not in that of the choice.
  const fields = chosen.length === 0 ? kind.fields : kind.fields.filter((field) => chosen.includes(field))
  return (
    <Stack gap="sm">
      <Group gap="sm" align="flex-end" justify="space-between">
        <Group gap="sm" align="flex-end" flex={1}>
          <TextInput
            aria-label={t('search')}
            placeholder={t('search')}
            leftSection={<SearchIcon />}
            value={typed}
            onChange={(event) => {
              setTyped(event.currentTarget.value)
              keyset.reset()
            }}
            w={{ base: '100%', sm: 280 }}
            spellCheck={false}
          />
          <MultiSelect
            aria-label={t('columns')}
            placeholder={chosen.length === 0 ? t('allColumns') : undefined}
            data={kind.fields}
            value={chosen}
            onChange={setChosen}
            clearable
            w={{ base: '100%', sm: 320 }}
          />
        </Group>
        <DownloadItems run={run} kind={kind.name} fields={fields} />
      </Group>
      <QueryState query={query}>
        {({ items, next }) => (
          <ListFrame
            count={items.length}
            empty={search ? t('notFound', { search }) : t('empty')}
            from="sm"
            table={<Wide items={items} fields={fields} />}
            cards={items.map((item) => <Card key={`${item.hash}-${item.n}`} item={item} fields={fields} />)}
          >
            <KeysetPager keyset={keyset} next={next} />
          </ListFrame>
        )}
      </QueryState>
    </Stack>
  )
}

function Wide({ items, fields }: { items: Item[]; fields: string[] }) {
  const t = useTranslations('items')
  return (
    <ListTable
      dense
      heads={
        <>
          {fields.map((field) => (
            <Table.Th key={field}>{field}</Table.Th>
          ))}
          <Table.Th>{t('page')}</Table.Th>
        </>
      }
    >
      {items.map((item) => (
        <Table.Tr key={`${item.hash}-${item.n}`}>
          {fields.map((field) => (
            <Table.Td
              key={field}
              miw={90}
              maw={360}
              ta={typeof item.data[field] === 'number' ? 'right' : undefined}
            >
              <Value value={item.data[field]} />
            </Table.Td>
          ))}
          <Table.Td miw={200} maw={360}>
            <WebAddress url={item.url} size="xs" />
          </Table.Td>
        </Table.Tr>
      ))}
    </ListTable>
  )
}

/** The same on a narrow screen. */
function Card({ item, fields }: { item: Item; fields: string[] }) {
  return (
    <Stack className="panel figures" p="sm" gap={4}>
      {fields.map((field) => (
        <Group key={field} gap="xs" wrap="nowrap" align="baseline">
          <Text size="xs" c="dimmed" miw={90} maw={120} className="address">
            {field}
          </Text>
          <Value value={item.data[field]} />
        </Group>
      ))}
      <WebAddress url={item.url} size="xs" />
    </Stack>
  )
}

function Value({ value }: { value: unknown }) {
  if (value === null || value === undefined || value === '')
    return (
      <Text size="sm" c="dimmed" component="span">
        –
      </Text>
    )
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return (
    <Text
      size="sm"
      lineClamp={2}
      className="address"
      title={text.length > 80 ? text.slice(0, 2000) : undefined}
    >
      {text}
    </Text>
  )
}
