'use client'

import { Alert } from '@mantine/core'
import { useTranslations } from 'next-intl'
import { useFigures } from '../figures'
import { WarningIcon } from '../icons'
import { useLive } from '../live'

/** Says since when the figures stand still: old numbers that look live are worse than none. */
export function LiveBanner() {
  const t = useTranslations('live')
  const { pausedSince, latest } = useLive()
  const figures = useFigures()
  return (
    <div role="status" aria-live="polite">
      {pausedSince !== null && (
        <Alert
          color="orange"
          variant="light"
          mb="md"
          icon={<WarningIcon />}
          title={t('paused', { time: figures.clock(pausedSince) })}
        >
          {t(latest ? 'old' : 'none')}
        </Alert>
      )}
    </div>
  )
}
