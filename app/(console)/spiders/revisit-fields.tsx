'use client'

import { NumberInput, Radio, SimpleGrid, Stack } from '@mantine/core'
import { useTranslations } from 'next-intl'
import type { Spider } from '../../../core/spider'

type Revisit = Spider['revisit']

const HOUR = 3600
const INTERVALS = ['first', 'min', 'max'] as const

/** What becomes of pages that an earlier run has fetched; intervals in hours. */
export function RevisitFields({
  revisit,
  setRevisit,
  fault,
}: {
  revisit: Revisit
  setRevisit: (revisit: Revisit) => void
  fault: (place: string) => string | undefined
}) {
  const t = useTranslations('revisit')
  return (
    <Stack gap="sm">
      <Radio.Group
        label={t('mode')}
        value={revisit.mode}
        onChange={(value) => setRevisit({ ...revisit, mode: value as Revisit['mode'] })}
      >
        <Stack gap={6} mt={4}>
          {(['all', 'changed', 'due', 'new'] as const).map((mode) => (
            <Radio key={mode} value={mode} label={t(`modes.${mode}`)} />
          ))}
        </Stack>
      </Radio.Group>
      {revisit.mode === 'due' && (
        <SimpleGrid cols={{ base: 1, sm: 3 }}>
          {INTERVALS.map((name) => (
            <NumberInput
              key={name}
              label={t(name)}
              suffix={t('hours')}
              min={0.01}
              decimalScale={2}
              value={revisit[name] / HOUR}
              onChange={(value) => setRevisit({ ...revisit, [name]: Math.round(Number(value) * HOUR) })}
              error={fault(`revisit.${name}`)}
            />
          ))}
        </SimpleGrid>
      )}
    </Stack>
  )
}
