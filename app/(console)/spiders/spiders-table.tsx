'use client'

import { Box, Group, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import { useFigures } from '../../figures'
import { Link } from '../../link'
import { QueryState } from '../../query-state'
import { useTRPC } from '../../trpc'
import { StartSpider } from './start-spider'

export function SpidersTable() {
  const t = useTranslations('spiders')
  const trpc = useTRPC()
  const figures = useFigures()
  const query = useQuery(trpc.spiders.list.queryOptions())
  return (
    <QueryState query={query}>
      {(spiders) =>
        spiders.length === 0 ? (
          <Text className="panel" p="xl" ta="center" c="dimmed" size="sm">
            {t('empty')}
          </Text>
        ) : (
          <Box className="panel" style={{ overflowX: 'auto' }}>
            <Table verticalSpacing="xs" horizontalSpacing="sm" highlightOnHover className="figures" fz="sm">
              <Table.Thead style={{ whiteSpace: 'nowrap' }}>
                <Table.Tr>
                  <Table.Th>{t('name')}</Table.Th>
                  <Table.Th ta="right">{t('version')}</Table.Th>
                  <Table.Th visibleFrom="sm">{t('changed')}</Table.Th>
                  <Table.Th aria-label={t('actions')} />
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {spiders.map((spider) => (
                  <Table.Tr key={spider.id}>
                    <Table.Td w="60%" className="address">
                      <Link href={`/spiders/${encodeURIComponent(spider.name)}`} strong>
                        {spider.name}
                      </Link>
                    </Table.Td>
                    <Table.Td ta="right">{figures.count(spider.version)}</Table.Td>
                    <Table.Td visibleFrom="sm" style={{ whiteSpace: 'nowrap' }}>
                      {figures.moment(spider.updatedAt)}
                    </Table.Td>
                    <Table.Td>
                      <Group gap="xs" justify="flex-end" wrap="nowrap">
                        <StartSpider spider={spider} size="compact-sm" />
                      </Group>
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Box>
        )
      }
    </QueryState>
  )
}
