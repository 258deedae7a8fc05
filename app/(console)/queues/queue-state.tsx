'use client'

import { useTranslations } from 'next-intl'
import { type QuietHours, quietUntil } from '../../../core/quiet-hours'
import { useLive } from '../../live'
import { Tag } from '../../tag'

interface Flags {
  name: string
  paused: boolean
  draining: boolean
  quiet: QuietHours | null
}

/** What a queue does now: the live word where there is one, so that a colleague's pause shows within a second. */
export function useQueueState(queue: Flags): 'open' | 'paused' | 'quiet' | 'draining' | 'drained' {
  const { latest } = useLive()
  const now = latest?.queues.find((one) => one.name === queue.name)
  const { paused, draining } = now ?? queue
  if (paused) return 'paused'
  if (quietUntil(queue.quiet, Date.now()) !== null) return 'quiet'
  if (!draining) return 'open'
  return now && now.pending + now.running + now.retry === 0 ? 'drained' : 'draining'
}

const COLOURS = { open: 'teal', paused: 'orange', quiet: 'indigo', draining: 'blue', drained: 'gray' }

export function QueueState({ queue }: { queue: Flags }) {
  const t = useTranslations('queueState')
  const state = useQueueState(queue)
  return (
    <Tag color={COLOURS[state]}>
      <span suppressHydrationWarning>{t(state)}</span>
    </Tag>
  )
}
