import { Badge } from '@mantine/core'
import type { ReactNode } from 'react'

/** A state in its colour; the words always stand in it. */
export function Tag({ color, children }: { color: string; children: ReactNode }) {
  return (
    <Badge color={color} variant="light" radius="sm" tt="none" fw={600} miw="max-content">
      {children}
    </Badge>
  )
}
