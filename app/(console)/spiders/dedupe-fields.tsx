'use client'

import { Alert, NumberInput, Radio, SimpleGrid, Stack } from '@mantine/core'
import { useTranslations } from 'next-intl'
import { dedupeText, seenOf } from '../../../core/queue/seen'
import type { Spider } from '../../../core/spider'
import { useFigures } from '../../figures'

type Dedupe = Spider['dedupe']

/** Redis needs about so many bytes to remember one URL exactly (docs/deployment.md). */
const EXACT_BYTES = 100

/** When a URL counts as seen, and what remembering it costs, in words. */
export function DedupeFields({
  dedupe,
  setDedupe,
  fault,
}: {
  dedupe: Dedupe
  setDedupe: (dedupe: Dedupe) => void
  fault: (place: string) => string | undefined
}) {
  const t = useTranslations('dedupe')
  const figures = useFigures()
  // Of a run and a spider like any other: the size is the same for all.
  const { buckets, chunks, bits } = seenOf('', 1, dedupeText({ ...dedupe, spider: 1 }).replace('@', '1'))
  return (
    <Stack gap="sm">
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <Radio.Group
          label={t('scope')}
          value={dedupe.scope}
          onChange={(value) => setDedupe({ ...dedupe, scope: value as Dedupe['scope'] })}
        >
          <Stack gap={6} mt={4}>
            {(['run', 'days', 'forever'] as const).map((scope) => (
              <Radio key={scope} value={scope} label={t(`scopes.${scope}`)} />
            ))}
          </Stack>
        </Radio.Group>
        <Radio.Group
          label={t('kind')}
          value={dedupe.kind}
          onChange={(value) => setDedupe({ ...dedupe, kind: value as Dedupe['kind'] })}
        >
          <Stack gap={6} mt={4}>
            {(['exact', 'bloom'] as const).map((kind) => (
              <Radio key={kind} value={kind} label={t(`kinds.${kind}`)} />
            ))}
          </Stack>
        </Radio.Group>
        {dedupe.scope === 'days' && (
          <NumberInput
            label={t('days')}
            min={1}
            max={365}
            allowDecimal={false}
            value={dedupe.days}
            onChange={(value) => setDedupe({ ...dedupe, days: Number(value) })}
            error={fault('dedupe.days')}
          />
        )}
        {dedupe.kind === 'bloom' && (
          <>
            <NumberInput
              label={t('capacity')}
              min={1000}
              max={1_000_000_000}
              allowDecimal={false}
              thousandSeparator=","
              value={dedupe.capacity}
              onChange={(value) => setDedupe({ ...dedupe, capacity: Number(value) })}
              error={fault('dedupe.capacity')}
            />
            <NumberInput
              label={t('errorRate')}
              min={0.0001}
              max={0.01}
              step={0.0001}
              decimalScale={5}
              value={dedupe.errorRate}
              onChange={(value) => setDedupe({ ...dedupe, errorRate: Number(value) })}
              error={fault('dedupe.errorRate')}
            />
          </>
        )}
      </SimpleGrid>
      <Alert color="gray" variant="light" py="xs">
        {dedupe.kind === 'exact'
          ? t('exactCost', { bytes: String(EXACT_BYTES), million: figures.bytes(EXACT_BYTES * 1e6) })
          : t('bloomCost', {
              size: figures.bytes((buckets * chunks * bits) / 8),
              capacity: figures.count(dedupe.capacity),
              one: figures.count(Math.round(1 / dedupe.errorRate)),
            })}{' '}
        {t(`cost.${dedupe.scope}`, { days: String(dedupe.days) })}
      </Alert>
    </Stack>
  )
}
