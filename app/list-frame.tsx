import { Box, Stack, Table, Text } from '@mantine/core'
import type { ReactNode } from 'react'

/**
 * The frame of every list: a table where there is room for it, the same as cards on a narrow screen, one sentence when
 * there is nothing. `children` (the pager) stand below.
 */
export function ListFrame({
  count,
  empty,
  table,
  cards,
  from = 'md',
  children,
}: {
  /** With `empty`: how many there are. */
  count?: number
  empty?: string
  table: ReactNode
  cards: ReactNode
  /** Width from which the table has room. */
  from?: 'sm' | 'md'
  children?: ReactNode
}) {
  if (count === 0 && empty) return <EmptyList>{empty}</EmptyList>
  return (
    <Stack gap="sm">
      <Box className="panel" visibleFrom={from} style={{ overflowX: 'auto' }}>
        {table}
      </Box>
      <Stack gap="xs" hiddenFrom={from}>
        {cards}
      </Stack>
      {children}
    </Stack>
  )
}

export function EmptyList({ children }: { children: ReactNode }) {
  return (
    <Text className="panel" p="xl" ta="center" c="dimmed" size="sm">
      {children}
    </Text>
  )
}

/** The table of a list: one line of heads, figures in columns. `dense` is for lists that are read by the hundred. */
export function ListTable({
  heads,
  dense = false,
  children,
}: {
  heads: ReactNode
  dense?: boolean
  children: ReactNode
}) {
  return (
    <Table
      verticalSpacing={dense ? 6 : 'xs'}
      horizontalSpacing="sm"
      highlightOnHover
      className="figures"
      fz="sm"
    >
      <Table.Thead style={{ whiteSpace: 'nowrap' }}>
        <Table.Tr>{heads}</Table.Tr>
      </Table.Thead>
      <Table.Tbody>{children}</Table.Tbody>
    </Table>
  )
}
