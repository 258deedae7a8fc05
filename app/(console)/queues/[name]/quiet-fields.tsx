'use client'

import { Select, SimpleGrid, Stack, Switch, TextInput } from '@mantine/core'
import { useTranslations } from 'next-intl'
import type { QuietHours } from '../../../../core/quiet-hours'

/** Hours in which nothing is fetched; off until somebody wants them. */
export function QuietFields({
  quiet,
  setQuiet,
  readOnly,
}: {
  quiet: QuietHours | null
  setQuiet: (quiet: QuietHours | null) => void
  readOnly: boolean
}) {
  const t = useTranslations('quietHours')
  const here = () => Intl.DateTimeFormat().resolvedOptions().timeZone
  return (
    <Stack gap="xs">
      <Switch
        label={t('title')}
        description={t('text')}
        checked={quiet !== null}
        onChange={(event) =>
          setQuiet(event.currentTarget.checked ? { from: '08:00', to: '20:00', zone: here() } : null)
        }
        disabled={readOnly}
      />
      {quiet && (
        <SimpleGrid cols={{ base: 2, sm: 3 }} spacing="sm">
          {(['from', 'to'] as const).map((end) => (
            <TextInput
              key={end}
              type="time"
              label={t(end)}
              value={quiet[end]}
              onChange={(event) => setQuiet({ ...quiet, [end]: event.currentTarget.value })}
              error={quiet.from === quiet.to && end === 'to' && t('same')}
              readOnly={readOnly}
              required
              withAsterisk={false}
            />
          ))}
          <Select
            label={t('zone')}
            data={[...new Set([quiet.zone, 'UTC', ...Intl.supportedValuesOf('timeZone')])]}
            value={quiet.zone}
            onChange={(zone) => zone && setQuiet({ ...quiet, zone })}
            limit={100}
            searchable
            allowDeselect={false}
            readOnly={readOnly}
          />
        </SimpleGrid>
      )}
    </Stack>
  )
}
