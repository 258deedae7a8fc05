import { Group, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'

/** The head of a section that lists something: what it is, and at its end what can be done with all of it. */
export function SectionHead({
  title,
  text,
  children,
}: {
  title: string
  text: string
  children?: ReactNode
}) {
  return (
    <Group justify="space-between" align="flex-end" gap="sm">
      <div>
        <Title order={2} size="h5">
          {title}
        </Title>
        <Text size="sm" c="dimmed">
          {text}
        </Text>
      </div>
      {children}
    </Group>
  )
}
