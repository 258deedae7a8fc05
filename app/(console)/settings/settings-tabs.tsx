'use client'

import { Button, Group } from '@mantine/core'
import Link from 'next/link'
import { usePathname } from 'next/navigation'
import { useTranslations } from 'next-intl'
import { useIsAdmin } from '../may-change'

const TABS = [
  { key: 'account', href: '/settings', admin: false },
  { key: 'people', href: '/settings/people', admin: true },
  { key: 'keys', href: '/settings/keys', admin: true },
  { key: 'audit', href: '/settings/audit', admin: true },
] as const

/** The pages of the settings that the reader may use. */
export function SettingsTabs() {
  const t = useTranslations('settings')
  const path = usePathname()
  const isAdmin = useIsAdmin()
  return (
    <Group component="nav" aria-label={t('title')} gap={4}>
      {TABS.filter(({ admin }) => isAdmin || !admin).map(({ key, href }) => (
        <Button
          key={key}
          component={Link}
          href={href}
          size="compact-md"
          variant={path === href ? 'light' : 'subtle'}
          color={path === href ? undefined : 'gray'}
          aria-current={path === href ? 'page' : undefined}
        >
          {t(key)}
        </Button>
      ))}
    </Group>
  )
}
