'use client'

import { Group, Text } from '@mantine/core'
import { useTranslations } from 'next-intl'
import type { FireView } from '../../../server/api/schedule-views'
import { useFigures } from '../../figures'
import { Link } from '../../link'
import { RunState } from '../../run-state'
import { Tag } from '../../tag'

const COLOURS = { fired: 'teal', queued: 'blue', skipped: 'gray', missed: 'red' } as const

export function FireKind({ kind }: { kind: FireView['kind'] }) {
  const t = useTranslations('fire.kind')
  return <Tag color={COLOURS[kind]}>{t(kind)}</Tag>
}

/** What became of a time a schedule was due: its run, or the reason there is none. */
export function FireResult({ fire }: { fire: FireView }) {
  const figures = useFigures()
  const reason = useFireReason()
  return (
    <div>
      <Group gap={6}>
        <FireKind kind={fire.kind} />
        <FireRun fire={fire} />
      </Group>
      <Text size="xs" c="dimmed" title={reason(fire.reason) ?? undefined}>
        {figures.moment(fire.fireAt)}
      </Text>
    </div>
  )
}

export function FireRun({ fire }: { fire: FireView }) {
  const t = useTranslations('runs')
  if (fire.runId === null) return null
  return (
    <Group gap={6} wrap="nowrap">
      <Link href={`/runs/${fire.runId}`}>{t('number', { id: String(fire.runId) })}</Link>
      {fire.runState && <RunState state={fire.runState} />}
    </Group>
  )
}

/** Reasons are stored as sentences, for whoever reads the table itself; here they are told in the reader's language. */
const REASONS = [
  ['missedSkip', /^no scheduler was there at that time; missed fires are skipped$/],
  ['missedOnce', /^no scheduler was there at that time; a later fire stands in for this one$/],
  ['overlap', /^run (?<run>\d+) of this schedule was still going on$/],
  ['tooMany', /^(?<many>\d+) fires of this schedule wait already$/],
  ['waits', /^waits for the run before it$/],
  ['waited', /^waited for the run before it$/],
  ['madeUp', /^made up for a time at which no scheduler was there$/],
  ['stopped', /^the schedule was stopped while this fire waited$/],
  ['deleted', /^the schedule was deleted while this fire waited$/],
  ['noSpider', /^its spider is gone$/],
  ['noSeeds', /^its spider has no seeds to begin with$/],
  ['byHand', /^started by hand by (?<actor>.+)$/],
] as const

export function useFireReason(): (reason: string | null) => string | null {
  const t = useTranslations('fire.reason')
  return (reason) => {
    for (const [key, pattern] of REASONS) {
      const match = reason && pattern.exec(reason)
      if (match) return t(key, { run: '', many: '', actor: '', ...match.groups })
    }
    return reason
  }
}
