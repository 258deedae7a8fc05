'use client'

import { useTranslations } from 'next-intl'
import type { RunView } from '../server/api/run-views'
import { Tag } from './tag'

/** One colour a state, the same in badges, bars and charts; words always stand beside it. */
export const STATE_COLOURS = {
  done: 'teal',
  failed: 'red',
  ignored: 'gray',
  cancelled: 'dark',
  running: 'indigo',
  retry: 'orange',
  pending: 'blue',
} as const

const RUN_COLOURS: Record<RunView['state'], string> = {
  preparing: 'blue',
  seeding: 'blue',
  running: 'indigo',
  cancelling: 'orange',
  finished: 'teal',
  cancelled: 'gray',
  failed: 'red',
}

export function RunState({ state }: { state: RunView['state'] }) {
  const t = useTranslations('runState')
  return <Tag color={RUN_COLOURS[state]}>{t(state)}</Tag>
}

export function PageState({ state }: { state: 'done' | 'failed' | 'ignored' }) {
  const t = useTranslations('state')
  return <Tag color={STATE_COLOURS[state]}>{t(state)}</Tag>
}

/** Whether nothing more happens to a run. */
export const isOver = (state: RunView['state']) =>
  state === 'finished' || state === 'cancelled' || state === 'failed'
