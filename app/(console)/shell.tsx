'use client'

import { Anchor, AppShell, Box, Burger, Group, NavLink, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import Link from 'next/link'
import { usePathname } from 'next/navigation'
import { useTranslations } from 'next-intl'
import type { ReactNode } from 'react'
import {
  AlertsIcon,
  LogoIcon,
  OverviewIcon,
  QueuesIcon,
  RunsIcon,
  SchedulesIcon,
  SeedsIcon,
  SettingsIcon,
  SpidersIcon,
  WorkersIcon,
} from '../icons'
import { LanguageMenu, ThemeMenu } from '../preferences'
import { FiringLink } from './alerts/firing-link'
import { LiveBanner } from './live-banner'
import { PasswordBanner } from './password-banner'
import { PersonMenu } from './person-menu'

/** The sections of the console, in the order of the navigation. Each has its page; what has none is not listed. */
const SECTIONS = [
  {
    key: 'overview',
    href: '/',
    owns: (path: string) => path === '/',
    Icon: OverviewIcon,
  },
  {
    key: 'runs',
    href: '/runs',
    owns: (path: string) => path.startsWith('/runs'),
    Icon: RunsIcon,
  },
  {
    key: 'spiders',
    href: '/spiders',
    owns: (path: string) => path.startsWith('/spiders'),
    Icon: SpidersIcon,
  },
  {
    key: 'seeds',
    href: '/seeds',
    owns: (path: string) => path.startsWith('/seeds'),
    Icon: SeedsIcon,
  },
  {
    key: 'queues',
    href: '/queues',
    owns: (path: string) => path.startsWith('/queues'),
    Icon: QueuesIcon,
  },
  {
    key: 'schedules',
    href: '/schedules',
    owns: (path: string) => path.startsWith('/schedules'),
    Icon: SchedulesIcon,
  },
  {
    key: 'workers',
    href: '/workers',
    owns: (path: string) => path.startsWith('/workers'),
    Icon: WorkersIcon,
  },
  {
    key: 'alerts',
    href: '/alerts',
    owns: (path: string) => path.startsWith('/alerts'),
    Icon: AlertsIcon,
  },
  {
    key: 'settings',
    href: '/settings',
    owns: (path: string) => path.startsWith('/settings'),
    Icon: SettingsIcon,
  },
] as const

export function Shell({ children }: { children: ReactNode }) {
  const t = useTranslations('shell')
  const path = usePathname()
  const [open, menu] = useDisclosure(false)
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 208, breakpoint: 'sm', collapsed: { mobile: !open } }}
      padding={{ base: 'sm', sm: 'lg' }}
    >
      <a className="skip-link" href="#content">
        {t('skip')}
      </a>
      <AppShell.Header bg="var(--panel)" style={{ borderColor: 'var(--line)' }}>
        <Group h="100%" px={{ base: 'sm', sm: 'md' }} justify="space-between" wrap="nowrap">
          <Group gap="xs" wrap="nowrap">
            <Burger
              opened={open}
              onClick={menu.toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={t(open ? 'closeMenu' : 'openMenu')}
            />
            <Anchor component={Link} href="/" underline="never" c="inherit">
              <Group gap={8} wrap="nowrap">
                <LogoIcon />
                <Text fw={650} size="lg" lh={1}>
                  Orbweaver
                </Text>
              </Group>
            </Anchor>
          </Group>
          <Group gap={4} wrap="nowrap">
            <FiringLink />
            <LanguageMenu />
            <ThemeMenu />
            <PersonMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar
        p="xs"
        bg="var(--panel)"
        aria-label={t('navigation')}
        style={{ borderColor: 'var(--line)' }}
      >
        {SECTIONS.map(({ key, href, owns, Icon }) => (
          <NavLink
            key={key}
            component={Link}
            href={href}
            label={t(key)}
            leftSection={<Icon />}
            active={owns(path)}
            aria-current={owns(path) ? 'page' : undefined}
            onClick={menu.close}
            style={{ borderRadius: 'var(--mantine-radius-md)' }}
          />
        ))}
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1}>
        <Box maw={1440} mx="auto">
          <PasswordBanner />
          <LiveBanner />
          {children}
        </Box>
      </AppShell.Main>
    </AppShell>
  )
}
