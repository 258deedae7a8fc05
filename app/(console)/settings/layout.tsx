import { Stack } from '@mantine/core'
import { getTranslations } from 'next-intl/server'
import type { ReactNode } from 'react'
import { PageTitle } from '../../page-title'
import { SettingsTabs } from './settings-tabs'

export default async function SettingsLayout({ children }: { children: ReactNode }) {
  const t = await getTranslations('settings')
  return (
    <Stack gap="lg">
      <PageTitle title={t('title')} text={t('text')} />
      <SettingsTabs />
      {children}
    </Stack>
  )
}
