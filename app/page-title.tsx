import { Box, Group, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'

/** The head of every page: its name, one sentence on it, and its main actions. */
export function PageTitle({
  title,
  text,
  children,
}: {
  title: ReactNode
  text?: ReactNode
  children?: ReactNode
}) {
  return (
    <Group justify="space-between" align="flex-end" gap="sm">
      <Box>
        <Title order={1} size="h3">
          {title}
        </Title>
        {text && (
          <Text size="sm" c="dimmed" component="div">
            {text}
          </Text>
        )}
      </Box>
      {children && <Group gap="xs">{children}</Group>}
    </Group>
  )
}
