'use client'

import { Box, Button, Group, Table } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import NextLink from 'next/link'
import { useTranslations } from 'next-intl'
import { useFigures } from '../../figures'
import { Link } from '../../link'
import { EmptyList, ListTable } from '../../list-frame'
import { QueryState } from '../../query-state'
import { useTRPC } from '../../trpc'
import { useMayChange } from '../may-change'
import { StartSpider } from './start-spider'

export function SpidersTable() {
  const t = useTranslations('spiders')
  const trpc = useTRPC()
  const figures = useFigures()
  const mayChange = useMayChange()
  const query = useQuery(trpc.spiders.list.queryOptions())
  return (
    <QueryState query={query}>
      {(spiders) =>
        spiders.length === 0 ? (
          <EmptyList>{t('empty')}</EmptyList>
        ) : (
          <Box className="panel" style={{ overflowX: 'auto' }}>
            <ListTable
              heads={
                <>
                  <Table.Th>{t('name')}</Table.Th>
                  <Table.Th ta="right">{t('version')}</Table.Th>
                  <Table.Th visibleFrom="sm">{t('changed')}</Table.Th>
                  <Table.Th aria-label={t('actions')} />
                </>
              }
            >
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
                      {mayChange && (
                        <Button
                          component={NextLink}
                          href={`/spiders/${encodeURIComponent(spider.name)}?tab=playground`}
                          size="compact-sm"
                          variant="default"
                          visibleFrom="sm"
                          aria-label={t('tryLabel', { name: spider.name })}
                        >
                          {t('try')}
                        </Button>
                      )}
                      <StartSpider spider={spider} size="compact-sm" />
                    </Group>
                  </Table.Td>
                </Table.Tr>
              ))}
            </ListTable>
          </Box>
        )
      }
    </QueryState>
  )
}
