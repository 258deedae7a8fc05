'use client'

import {
  Box,
  Button,
  Checkbox,
  Group,
  NativeSelect,
  SimpleGrid,
  Stack,
  Switch,
  Table,
  Text,
  TextInput,
} from '@mantine/core'
import { useTranslations } from 'next-intl'
import { DRAFT_SOURCES, type DraftField, type DraftItem, type DraftSource, newField, newItem } from './draft'

const TYPES = ['text', 'html', 'number', 'integer', 'boolean', 'url', 'date', 'json'] as const

type Fault = (place: string) => string | undefined

/** Which items are taken from which pages, and each one's fields. */
export function ItemRules({
  items,
  setItems,
  fault,
}: {
  items: DraftItem[] | null
  setItems: (items: DraftItem[] | null) => void
  fault: Fault
}) {
  const t = useTranslations('itemRules')
  const list = items ?? []
  return (
    <Stack gap="md">
      <Switch
        label={t('own')}
        description={t('ownText')}
        checked={items !== null}
        onChange={(event) => setItems(event.currentTarget.checked ? [newItem()] : null)}
      />
      {list.map((item, n) => (
        <Item
          key={item.key}
          item={item}
          place={`items[${n}]`}
          fault={fault}
          setItem={(changed) => setItems(list.map((one) => (one.key === item.key ? changed : one)))}
          remove={() => setItems(list.filter((one) => one.key !== item.key))}
        />
      ))}
      {items !== null && (
        <Group>
          <Button variant="default" size="xs" onClick={() => setItems([...list, newItem()])}>
            {t('addItem')}
          </Button>
        </Group>
      )}
    </Stack>
  )
}

function Item({
  item,
  place,
  fault,
  setItem,
  remove,
}: {
  item: DraftItem
  place: string
  fault: Fault
  setItem: (item: DraftItem) => void
  remove: () => void
}) {
  const t = useTranslations('itemRules')
  const setField = (key: string, changed: Partial<DraftField>) =>
    setItem({
      ...item,
      fields: item.fields.map((one) => (one.key === key ? { ...one, ...changed } : one)),
    })
  return (
    <Stack
      gap="sm"
      p="sm"
      style={{ border: '1px solid var(--line)', borderRadius: 'var(--mantine-radius-md)' }}
    >
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        <TextInput
          label={t('name')}
          value={item.name}
          onChange={(event) => setItem({ ...item, name: event.currentTarget.value })}
          error={fault(`${place}.name`)}
          spellCheck={false}
        />
        <TextInput
          label={t('url')}
          placeholder={t('everyPage')}
          value={item.url}
          onChange={(event) => setItem({ ...item, url: event.currentTarget.value })}
          error={fault(`${place}.url`)}
          spellCheck={false}
        />
        <TextInput
          label={t('each')}
          placeholder={t('onePage')}
          value={item.each}
          onChange={(event) => setItem({ ...item, each: event.currentTarget.value })}
          error={fault(`${place}.each`)}
          spellCheck={false}
        />
      </SimpleGrid>
      <Box style={{ overflowX: 'auto' }}>
        <Table verticalSpacing={4} horizontalSpacing={6} fz="sm" miw={880}>
          <Table.Thead>
            <Table.Tr>
              {(['field', 'source', 'at', 'attr', 'regex', 'type', 'list', 'required'] as const).map(
                (column) => (
                  <Table.Th key={column}>{t(column)}</Table.Th>
                ),
              )}
              <Table.Th aria-label={t('remove')} />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {item.fields.map((field) => {
              const at = `${place}.fields.${field.name}`
              const text = (key: 'name' | 'at' | 'attr' | 'regex', label: string) => ({
                size: 'xs' as const,
                'aria-label': label,
                value: field[key],
                spellCheck: false,
                onChange: (event: { currentTarget: { value: string } }) =>
                  setField(field.key, { [key]: event.currentTarget.value }),
              })
              return (
                <Table.Tr key={field.key} style={{ verticalAlign: 'top' }}>
                  <Table.Td miw={110}>
                    <TextInput {...text('name', t('field'))} />
                  </Table.Td>
                  <Table.Td miw={130}>
                    <NativeSelect
                      size="xs"
                      aria-label={t('source')}
                      value={field.source}
                      onChange={(event) =>
                        setField(field.key, { source: event.currentTarget.value as DraftSource })
                      }
                      data={DRAFT_SOURCES.map((value) => ({ value, label: t(`sources.${value}`) }))}
                    />
                  </Table.Td>
                  <Table.Td miw={170}>
                    <TextInput
                      {...text('at', t(`sources.${field.source}`))}
                      placeholder={t(`examples.${field.source}`)}
                      error={fault(`${at}.${field.source}`) ?? fault(at)}
                    />
                  </Table.Td>
                  <Table.Td miw={90}>
                    <TextInput {...text('attr', t('attr'))} error={fault(`${at}.attr`)} />
                  </Table.Td>
                  <Table.Td miw={120}>
                    <TextInput {...text('regex', t('regex'))} error={fault(`${at}.regex`)} />
                  </Table.Td>
                  <Table.Td miw={110}>
                    <NativeSelect
                      size="xs"
                      aria-label={t('type')}
                      value={field.type}
                      onChange={(event) =>
                        setField(field.key, { type: event.currentTarget.value as DraftField['type'] })
                      }
                      data={TYPES.map((value) => ({ value, label: t(`types.${value}`) }))}
                    />
                  </Table.Td>
                  {(['list', 'required'] as const).map((key) => (
                    <Table.Td key={key}>
                      <Checkbox
                        size="xs"
                        mt={6}
                        aria-label={t(key)}
                        checked={field[key]}
                        onChange={(event) => setField(field.key, { [key]: event.currentTarget.checked })}
                      />
                    </Table.Td>
                  ))}
                  <Table.Td>
                    <Button
                      size="compact-xs"
                      mt={4}
                      variant="subtle"
                      color="gray"
                      aria-label={t('removeField', { name: field.name })}
                      onClick={() =>
                        setItem({ ...item, fields: item.fields.filter((one) => one.key !== field.key) })
                      }
                    >
                      ✕
                    </Button>
                  </Table.Td>
                </Table.Tr>
              )
            })}
          </Table.Tbody>
        </Table>
      </Box>
      {fault(`${place}.fields`) && (
        <Text size="xs" c="var(--mantine-color-red-text)" className="address">
          {fault(`${place}.fields`)}
        </Text>
      )}
      <Group justify="space-between">
        <Button
          variant="default"
          size="xs"
          onClick={() => setItem({ ...item, fields: [...item.fields, newField()] })}
        >
          {t('addField')}
        </Button>
        <Button variant="subtle" color="red" size="xs" onClick={remove}>
          {t('removeItem')}
        </Button>
      </Group>
    </Stack>
  )
}
