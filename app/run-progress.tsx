'use client'

import { Progress, Tooltip } from '@mantine/core'
import { useTranslations } from 'next-intl'
import type { RunView } from '../server/api/run-views'
import { useFigures } from './figures'
import { STATE_COLOURS } from './run-state'

const ORDER = ['done', 'ignored', 'failed', 'cancelled', 'running', 'retry'] as const

/** How much of what was admitted has ended, by outcome; what is grey still waits. */
export function RunProgress({ run, size = 8 }: { run: RunView; size?: number }) {
  const t = useTranslations('state')
  const words = useTranslations('runs')
  const figures = useFigures()
  const { counts } = run
  const all = Math.max(1, counts.admitted)
  const ended = counts.done + counts.failed + counts.ignored + counts.cancelled
  return (
    <Progress.Root
      size={size}
      aria-label={words('progress')}
      role="progressbar"
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.floor((ended / all) * 100)}
    >
      {ORDER.filter((state) => counts[state] > 0).map((state) => (
        <Tooltip key={state} label={`${t(state)}: ${figures.count(counts[state])}`}>
          <Progress.Section
            withAria={false}
            value={(counts[state] / all) * 100}
            color={STATE_COLOURS[state]}
          />
        </Tooltip>
      ))}
    </Progress.Root>
  )
}
