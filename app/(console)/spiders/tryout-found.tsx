'use client'

import { Box, Group, Stack, Table, Text } from '@mantine/core'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import { LINK_VERDICTS, type LinkVerdict, type TryoutReading } from '../../../core/tryout'
import { useFigures } from '../../figures'
import { ListTable } from '../../list-frame'
import { Pairs, Panel } from '../../pairs'
import { Tag } from '../../tag'
import { WebAddress } from '../../web-address'

/** The items that the spider takes of the page. */
export function TryoutItems({ reading }: { reading: TryoutReading }) {
  const t = useTranslations('tryout')
  const figures = useFigures()
  return (
    <Panel title={t('items', { count: reading.itemCount })}>
      {reading.codeFault && (
        <Text size="sm" c="var(--mantine-color-red-text)" className="address">
          {reading.codeFault}
        </Text>
      )}
      {reading.incomplete > 0 && <Text size="sm">{t('incomplete', { count: reading.incomplete })}</Text>}
      {reading.cut && <Text size="sm">{t('cut')}</Text>}
      {reading.itemCount === 0 && (
        <Text size="sm" c="dimmed">
          {t('noItems')}
        </Text>
      )}
      <Stack gap="md" mah={560} style={{ overflowY: 'auto' }}>
        {reading.items.map(({ name, data }, n) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: items have no name of their own and come anew as a whole
          <Stack key={n} gap={6} className="inset" p="xs">
            <Text size="sm" fw={600} className="address">
              {name}
            </Text>
            <Pairs pairs={Object.entries(data).map(([field, value]) => [field, shown(value)])} />
          </Stack>
        ))}
      </Stack>
      {reading.itemCount > reading.items.length && (
        <Text size="xs" c="dimmed">
          {t('more', { count: figures.count(reading.itemCount - reading.items.length) })}
        </Text>
      )}
    </Panel>
  )
}

function shown(value: unknown): string {
  if (value === null) return '–'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

const SHOWN_LINKS = 100

/** Each link, and whether it is followed or why not. */
export function TryoutLinks({ reading }: { reading: TryoutReading }) {
  const t = useTranslations('tryout')
  const figures = useFigures()
  const [only, setOnly] = useState<LinkVerdict | null>(null)
  const links = reading.links.filter(({ verdict }) => only === null || verdict === only)
  const all = Object.values(reading.linkCounts).reduce((sum, count) => sum + count, 0)
  return (
    <Panel title={t('links', { count: all })}>
      <Group gap="xs">
        {LINK_VERDICTS.filter((verdict) => reading.linkCounts[verdict]).map((verdict) => (
          <button
            key={verdict}
            type="button"
            aria-pressed={only === verdict}
            onClick={() => setOnly(only === verdict ? null : verdict)}
            style={{
              border: only === verdict ? '1px solid currentColor' : '1px solid transparent',
              borderRadius: 8,
              background: 'none',
              padding: 2,
              cursor: 'pointer',
            }}
          >
            <Tag color={verdict === 'followed' ? 'teal' : 'gray'}>
              {t(`verdicts.${verdict}`)} {figures.count(reading.linkCounts[verdict]!)}
            </Tag>
          </button>
        ))}
      </Group>
      {links.length > 0 && (
        <Box style={{ overflowX: 'auto' }}>
          <ListTable
            dense
            heads={
              <>
                <Table.Th>{t('link')}</Table.Th>
                <Table.Th>{t('verdict')}</Table.Th>
              </>
            }
          >
            {links.slice(0, SHOWN_LINKS).map(({ url, verdict }) => (
              <Table.Tr key={url}>
                <Table.Td w="70%">
                  <WebAddress url={url} />
                </Table.Td>
                <Table.Td>
                  <Text size="sm" c={verdict === 'followed' ? undefined : 'dimmed'}>
                    {t(`because.${verdict}`)}
                  </Text>
                </Table.Td>
              </Table.Tr>
            ))}
          </ListTable>
        </Box>
      )}
      {all > Math.min(links.length, SHOWN_LINKS) && only === null && (
        <Text size="xs" c="dimmed">
          {t('more', { count: figures.count(all - Math.min(links.length, SHOWN_LINKS)) })}
        </Text>
      )}
    </Panel>
  )
}
