'use client'

import { Button, Group, Text } from '@mantine/core'
import { useTranslations } from 'next-intl'
import { useState } from 'react'

/**
 * Paging by the last row seen, which costs the same on the thousandth page as on the first. `cursor` goes into the query;
 * undefined is the newest page.
 */
export function useKeyset<Cursor>() {
  const [trail, setTrail] = useState<Cursor[]>([])
  return {
    cursor: trail.at(-1),
    page: trail.length + 1,
    older: (next: Cursor) => setTrail((before) => [...before, next]),
    newer: () => setTrail((before) => before.slice(0, -1)),
    reset: () => setTrail([]),
  }
}

export function KeysetPager<Cursor>({
  keyset,
  next,
  order = 'time',
}: {
  keyset: ReturnType<typeof useKeyset<Cursor>>
  next: Cursor | null
  /** What the list is sorted by: newest first, or by name. */
  order?: 'time' | 'name'
}) {
  const t = useTranslations('pager')
  if (keyset.page === 1 && next === null) return null
  return (
    <Group component="nav" aria-label={t('label')} justify="flex-end" gap="xs">
      <Text size="sm" c="dimmed" className="figures">
        {t('page', { page: keyset.page })}
      </Text>
      <Button size="xs" variant="default" disabled={keyset.page === 1} onClick={keyset.newer}>
        {t(order === 'time' ? 'newer' : 'previous')}
      </Button>
      <Button
        size="xs"
        variant="default"
        disabled={next === null}
        onClick={() => next !== null && keyset.older(next)}
      >
        {t(order === 'time' ? 'older' : 'next')}
      </Button>
    </Group>
  )
}
