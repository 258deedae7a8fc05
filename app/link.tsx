'use client'

import { Anchor } from '@mantine/core'
import NextLink from 'next/link'
import type { ReactNode } from 'react'

/** A link within the console, as text. */
export function Link({
  href,
  strong = false,
  children,
}: {
  href: string
  strong?: boolean
  children: ReactNode
}) {
  return (
    <Anchor component={NextLink} href={href} size="sm" fw={strong ? 600 : undefined}>
      {children}
    </Anchor>
  )
}
