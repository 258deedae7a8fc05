'use client'

import { Box, Button, Checkbox, Group, NativeSelect, Radio, Stack, Table, Text, Title } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import { useEffect, useEffectEvent, useState } from 'react'
import type { ColumnRole } from '../../../server/services/seed-columns'
import type { SeedPreview } from '../../../server/services/seed-preview'
import type { Encoding } from '../../../server/services/text-lines'
import { useFigures } from '../../figures'
import { Lines, MutationError } from '../../query-state'
import { useTRPC } from '../../trpc'
import type { UploadAs } from './upload'

const ROLES: ColumnRole[] = ['url', 'priority', 'depth', 'meta', 'keep', 'leave']
const ENCODINGS: Encoding[] = ['utf-8', 'utf-16le', 'utf-16be', 'gb18030']
const DELIMITERS = { ',': 'comma', ';': 'semicolon', '\t': 'tab', '|': 'bar' } as const
/** What the server is shown of the file; it finds out the rest from this. */
const BEGIN_BYTES = 65_536

type Reading = Pick<UploadAs, 'wholeOnly' | 'encoding' | 'columns'>

/** How a file will be read, before it is sent: encoding, delimiter and columns as found out, and all of it can be changed. */
export function FileToRead({
  file,
  back,
  start,
}: {
  file: File
  back: () => void
  start: (as: Reading) => void
}) {
  const t = useTranslations('fileToRead')
  const trpc = useTRPC()
  const figures = useFigures()
  const [wholeOnly, setWholeOnly] = useState(false)
  const [roles, setRoles] = useState<ColumnRole[]>([])
  const look = useMutation(
    trpc.seeds.preview.mutationOptions({ onSuccess: (found) => setRoles(found.columns.roles) }),
  )
  const again = async (chosen: { encoding?: Encoding; delimiter?: string; header?: boolean } = {}) => {
    const before = look.variables
    look.mutate({ ...before, begin: before?.begin ?? (await beginOf(file)), ...chosen })
  }
  const first = useEffectEvent(() => void again())
  useEffect(() => first(), [])
  const found = look.data
  const urls = roles.filter((role) => role === 'url').length
  return (
    <Stack gap="sm">
      <Group justify="space-between" gap="xs">
        <Title order={2} size="h5" className="address">
          {t('title', { file: file.name, size: figures.bytes(file.size) })}
        </Title>
      </Group>
      <MutationError error={look.error} />
      {!found && !look.error && <Lines count={4} />}
      {found && (
        <>
          <Group gap="sm" align="flex-end">
            <NativeSelect
              label={t('encoding')}
              value={found.encoding}
              onChange={(event) => again({ encoding: event.currentTarget.value as Encoding })}
              data={ENCODINGS.map((value) => ({ value, label: t(`encodings.${value}`) }))}
            />
            <NativeSelect
              label={t('delimiter')}
              value={found.columns.delimiter}
              onChange={(event) => again({ delimiter: event.currentTarget.value })}
              data={Object.entries(DELIMITERS).map(([value, name]) => ({
                value,
                label: t(`delimiters.${name}`),
              }))}
            />
            <Checkbox
              mb={8}
              label={t('header')}
              checked={found.columns.header}
              onChange={(event) => again({ header: event.currentTarget.checked })}
            />
          </Group>
          <Columns found={found} roles={roles} setRoles={setRoles} />
          {urls !== 1 && (
            <Text size="sm" c="var(--mantine-color-red-text)" role="alert">
              {t('oneUrl')}
            </Text>
          )}
          <Radio.Group
            label={t('badLines')}
            value={wholeOnly ? 'whole' : 'valid'}
            onChange={(value) => setWholeOnly(value === 'whole')}
          >
            <Stack gap={6} mt={4}>
              <Radio value="valid" label={t('valid')} />
              <Radio value="whole" label={t('whole')} />
            </Stack>
          </Radio.Group>
        </>
      )}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={back}>
          {t('back')}
        </Button>
        <Button
          disabled={!found || urls !== 1}
          onClick={() =>
            found && start({ wholeOnly, encoding: found.encoding, columns: { ...found.columns, roles } })
          }
        >
          {t('start')}
        </Button>
      </Group>
    </Stack>
  )
}

function Columns({
  found,
  roles,
  setRoles,
}: {
  found: SeedPreview
  roles: ColumnRole[]
  setRoles: (roles: ColumnRole[]) => void
}) {
  const t = useTranslations('fileToRead')
  const name = (column: number) => found.names[column] || t('column', { number: String(column + 1) })
  return (
    <Box style={{ overflowX: 'auto' }}>
      <Table fz="sm" verticalSpacing={6} withTableBorder withColumnBorders>
        <Table.Thead>
          <Table.Tr>
            {roles.map((role, column) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns of a file have no other name of their own
              <Table.Th key={column} miw={170}>
                <NativeSelect
                  size="xs"
                  label={<span className="address">{name(column)}</span>}
                  aria-label={t('role', { column: name(column) })}
                  value={role}
                  onChange={(event) =>
                    setRoles(
                      roles.map((one, n) => (n === column ? (event.currentTarget.value as ColumnRole) : one)),
                    )
                  }
                  data={ROLES.map((value) => ({ value, label: t(`roles.${value}`) }))}
                />
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {found.rows.map((row, line) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows of a preview never move
            <Table.Tr key={line}>
              {roles.map((role, column) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: as above
                <Table.Td key={column} c={role === 'leave' ? 'dimmed' : undefined} maw={420}>
                  <Text size="sm" lineClamp={2} className="address">
                    {row[column]}
                  </Text>
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Box>
  )
}

/** The first bytes, as text that a request can carry. */
async function beginOf(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.slice(0, BEGIN_BYTES).arrayBuffer())
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return btoa(text)
}
