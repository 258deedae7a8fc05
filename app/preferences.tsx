'use client'

import { ActionIcon, Menu, useMantineColorScheme } from '@mantine/core'
import { useMounted } from '@mantine/hooks'
import { useRouter } from 'next/navigation'
import { useLocale, useTranslations } from 'next-intl'
import { AutoIcon, LanguageIcon, MoonIcon, SunIcon } from './icons'
import { LOCALE_COOKIE, LOCALES } from './locales'

const YEAR_SECONDS = 31_536_000

export function LanguageMenu() {
  const t = useTranslations('preferences')
  const locale = useLocale()
  const router = useRouter()
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('language')}>
          <LanguageIcon />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {Object.entries(LOCALES).map(([code, name]) => (
          <Menu.Item
            key={code}
            lang={code}
            fw={code === locale ? 600 : undefined}
            aria-current={code === locale}
            onClick={() => {
              // biome-ignore lint/suspicious/noDocumentCookie: the cookie store is not in every browser yet
              document.cookie = `${LOCALE_COOKIE}=${code}; path=/; max-age=${YEAR_SECONDS}; samesite=lax`
              router.refresh()
            }}
          >
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

const SCHEMES = { auto: AutoIcon, light: SunIcon, dark: MoonIcon } as const

export function ThemeMenu() {
  const t = useTranslations('preferences')
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  // The server does not know the choice, which is kept in the browser.
  const chosen = useMounted() ? colorScheme : 'auto'
  const Chosen = SCHEMES[chosen]
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('theme')}>
          <Chosen />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {(['auto', 'light', 'dark'] as const).map((scheme) => {
          const Icon = SCHEMES[scheme]
          return (
            <Menu.Item
              key={scheme}
              leftSection={<Icon />}
              fw={scheme === chosen ? 600 : undefined}
              aria-current={scheme === chosen}
              onClick={() => setColorScheme(scheme)}
            >
              {t(scheme)}
            </Menu.Item>
          )
        })}
      </Menu.Dropdown>
    </Menu>
  )
}
