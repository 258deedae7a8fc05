'use client'

import { Group, List, Stack, Text } from '@mantine/core'
import { useTranslations } from 'next-intl'
import type { ReactNode } from 'react'
import type { Cause, Why } from '../../../../server/services/why'
import { useFigures } from '../../../figures'
import { Link } from '../../../link'
import { STATE_COLOURS } from '../../../run-state'
import { Tag } from '../../../tag'
import { useReason } from '../../runs/[id]/reason'

/** Every limit in its own sentence, the nearest first. */
export function WhyAnswer({ why }: { why: Why }) {
  const t = useTranslations('why')
  const state = useTranslations('state')
  const tell = useCause()
  return (
    <Stack gap={6} aria-live="polite">
      <Group gap="xs">
        <Tag color={why.state === 'unknown' ? 'gray' : STATE_COLOURS[why.state]}>
          {why.state === 'unknown' ? t('unknown') : state(why.state)}
        </Tag>
        <Link href={`/runs/${why.run}`}>{t('inRun', { run: String(why.run) })}</Link>
      </Group>
      <Text size="xs" c="dimmed" className="address">
        {why.url}
      </Text>
      <List size="sm" spacing={4} type={why.causes.length > 1 ? 'ordered' : 'unordered'}>
        {why.causes.map((cause) => (
          <List.Item key={cause.kind} className="address" suppressHydrationWarning>
            {tell(cause)}
          </List.Item>
        ))}
      </List>
    </Stack>
  )
}

function useCause(): (cause: Cause) => ReactNode {
  const t = useTranslations('why.cause')
  const runState = useTranslations('runState')
  const figures = useFigures()
  const reason = useReason()
  const span = (until: number) => figures.duration(Math.max(0, until - Date.now()))
  const since = (at: number | null) => (at === null ? '–' : figures.moment(at))
  return (cause) => {
    switch (cause.kind) {
      case 'paused':
      case 'draining':
        return cause.by === null
          ? t(cause.kind === 'paused' ? 'pausedBare' : 'drainingBare')
          : t(cause.kind, { by: cause.by, since: since(cause.since) })
      case 'quiet':
        return t('quiet', { span: span(cause.until), time: figures.moment(cause.until), zone: cause.zone })
      case 'noWorker':
        return cause.lastSeen === null ? t('noWorkerEver') : t('noWorker', { since: since(cause.lastSeen) })
      case 'maxRunning':
        return t('maxRunning', { limit: figures.count(cause.limit), running: figures.count(cause.running) })
      case 'held':
        return t('held', { host: cause.host, span: span(cause.until), time: figures.clock(cause.until) })
      case 'delay':
        return t(`delay.${cause.source}`, {
          host: cause.host,
          delay: figures.delay(cause.delayMs),
          span: span(cause.until),
          time: figures.clock(cause.until),
        })
      case 'hostFull':
        return (
          <>
            {t('hostFull', { host: cause.host, limit: figures.count(cause.limit) })}
            {cause.holders.map((holder) => (
              <Text key={holder.url} size="xs" c="dimmed">
                {t('holder', {
                  worker: holder.worker ?? '?',
                  url: holder.url,
                  span: figures.duration(Date.now() - holder.since),
                })}
              </Text>
            ))}
          </>
        )
      case 'ahead':
        return t('ahead', { many: figures.count(cause.many), host: cause.host })
      case 'next':
      case 'cancelled':
      case 'seedWaits':
      case 'pattern':
      case 'unlinked':
        return t(cause.kind)
      case 'running':
        return t('running', {
          worker: cause.worker ?? '?',
          span: figures.duration(Date.now() - cause.since),
          until: cause.until === null ? '–' : figures.clock(cause.until),
        })
      case 'retry':
        return t('retry', {
          attempts: figures.count(cause.attempts),
          span: span(cause.due),
          time: figures.clock(cause.due),
        })
      case 'ended':
        return `${t('ended', { at: figures.moment(cause.at) })} ${reason(cause) ?? ''}`
      case 'runState':
        return t('runState', { state: runState(cause.state) })
      case 'scope':
        return t('scope', { scope: cause.scope })
      case 'hostBudget':
        return t('hostBudget', { host: cause.host, maxPages: figures.count(cause.maxPages) })
      case 'full':
        return t('full', { maxPages: figures.count(cause.maxPages) })
    }
  }
}
