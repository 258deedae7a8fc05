import { Group, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'

/** Facts with their names, one below the other; long ones break. */
export function Pairs({ pairs }: { pairs: (readonly [string, ReactNode])[] }) {
  return (
    <Stack gap={6} component="dl" m={0}>
      {pairs.map(([name, value]) => (
        <Group key={name} gap="sm" wrap="nowrap" align="baseline">
          <Text size="sm" c="dimmed" component="dt" w={110} className="address" style={{ flexShrink: 0 }}>
            {name}
          </Text>
          <Text size="sm" component="dd" m={0} miw={0} className="address">
            {value}
          </Text>
        </Group>
      ))}
    </Stack>
  )
}

/** A part of a page with a name of its own. */
export function Panel({ title, children }: { title: ReactNode; children: ReactNode }) {
  return (
    <Stack className="panel" p="md" gap="sm" component="section" miw={0}>
      <Title order={2} size="h5">
        {title}
      </Title>
      {children}
    </Stack>
  )
}
