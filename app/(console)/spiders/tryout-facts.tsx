'use client'

import { Group, Progress, SimpleGrid, Stack, Text } from '@mantine/core'
import { useTranslations } from 'next-intl'
import type { TryoutPage } from '../../../core/tryout'
import { useFigures } from '../../figures'
import { Pairs, Panel } from '../../pairs'
import { STATE_COLOURS } from '../../run-state'
import { Tag } from '../../tag'
import { WebAddress } from '../../web-address'
import { useReason } from '../runs/[id]/reason'

/** What the worker found out about the address: its answer, robots.txt, times and headers. */
export function TryoutFacts({ page }: { page: TryoutPage }) {
  const t = useTranslations('tryout')
  const states = useTranslations('state')
  const figures = useFigures()
  const reason = useReason()
  const { outcome, charset, robots } = page
  const state = outcome.state as 'done' | 'failed' | 'ignored' | 'retry'
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="md" style={{ alignItems: 'start' }}>
      <Panel
        title={
          <Group gap="sm" component="span">
            {page.status === null ? t('noAnswer') : t('status', { status: String(page.status) })}
            <Tag color={STATE_COLOURS[state]}>{states(state)}</Tag>
          </Group>
        }
      >
        {outcome.reason && (
          <Text size="sm">{reason({ reason: outcome.reason, detail: outcome.detail })}</Text>
        )}
        <Pairs
          pairs={[
            ...page.hops.map(
              (hop, n) =>
                [
                  t('hop', { number: String(n + 1) }),
                  <span key={hop.url}>
                    {hop.status} <WebAddress url={hop.url} />
                  </span>,
                ] as const,
            ),
            [t('address'), <WebAddress key="address" url={page.finalUrl ?? page.url} />],
            [
              t('robots'),
              robots.allowed === null
                ? t('robotsUnknown')
                : `${t(robots.allowed ? 'robotsAllows' : 'robotsForbids')}${robots.obeyed ? '' : ` ${t('robotsIgnored')}`}`,
            ],
            ...(robots.line
              ? [[t('robotsLine', { line: String(robots.line.number) }), robots.line.text] as const]
              : []),
            ...(robots.crawlDelayMs ? [[t('crawlDelay'), figures.delay(robots.crawlDelayMs)] as const] : []),
            ...(page.contentType ? [[t('type'), page.contentType] as const] : []),
            ...(charset
              ? [[t('charset'), t(`charsetBy.${charset.source}`, { name: charset.name })] as const]
              : []),
            ...(page.bytes === null
              ? []
              : [
                  [
                    t('size'),
                    t('sizes', { bytes: figures.bytes(page.bytes), wire: figures.bytes(page.wireBytes) }),
                  ] as const,
                ]),
            [t('worker'), page.worker],
          ]}
        />
        {page.bytes !== null && page.kept > 0 && page.kept < page.bytes && (
          <Text size="xs" c="dimmed">
            {t('keptPart', { bytes: figures.bytes(page.kept) })}
          </Text>
        )}
      </Panel>
      <Stack gap="md" miw={0}>
        <Times page={page} />
        {Object.keys(page.headers).length > 0 && (
          <Panel title={t('headers')}>
            <div style={{ maxHeight: 220, overflowY: 'auto' }} tabIndex={-1}>
              <Pairs pairs={Object.entries(page.headers)} />
            </div>
          </Panel>
        )}
      </Stack>
    </SimpleGrid>
  )
}

const PARTS = [
  ['dns', 'grape'],
  ['connect', 'orange'],
  ['tls', 'pink'],
  ['firstByte', 'teal'],
  ['body', 'indigo'],
] as const

function Times({ page: { times } }: { page: TryoutPage }) {
  const t = useTranslations('tryout')
  const figures = useFigures()
  const parts = PARTS.flatMap(([part, colour]) => {
    const ms = times[part]
    return ms === null ? [] : [{ part, colour, ms }]
  })
  const sum = parts.reduce((all, { ms }) => all + ms, 0)
  return (
    <Panel title={t('times')}>
      {sum > 0 && (
        <Progress.Root size="lg" aria-hidden>
          {parts.map(({ part, colour, ms }) => (
            <Progress.Section key={part} value={(100 * ms) / sum} color={colour} />
          ))}
        </Progress.Root>
      )}
      <Group gap="md">
        {parts.map(({ part, colour, ms }) => (
          <Text key={part} size="sm" className="figures">
            <Text component="span" c={`var(--mantine-color-${colour}-filled)`} aria-hidden>
              ●
            </Text>{' '}
            {t(`parts.${part}`)} {figures.milliseconds(ms)}
          </Text>
        ))}
      </Group>
      <Text size="xs" c="dimmed">
        {t('total', { total: figures.milliseconds(times.total), waited: figures.milliseconds(times.waited) })}
      </Text>
    </Panel>
  )
}
