'use client'

import { Anchor, Box, Group, NavLink, Text } from '@mantine/core'
import NextLink from 'next/link'
import { useTranslations } from 'next-intl'
import type { ReactNode } from 'react'
import { LogoIcon } from '../../icons'
import { LanguageMenu, ThemeMenu } from '../../preferences'

/** Head and contents of the page, which stands outside the console. */
export function DocsFrame({
  groups,
  children,
}: {
  groups: { id: string; title: string }[]
  children: ReactNode
}) {
  const t = useTranslations('apiDocs')
  return (
    <>
      <a className="skip-link" href="#content">
        {t('skip')}
      </a>
      <Box component="header" bg="var(--panel)" style={{ borderBottom: '1px solid var(--line)' }}>
        <Group
          h={56}
          px={{ base: 'sm', sm: 'lg' }}
          maw={1280}
          mx="auto"
          justify="space-between"
          wrap="nowrap"
        >
          <Anchor component={NextLink} href="/" underline="never" c="inherit" aria-label={t('console')}>
            <Group gap={8} wrap="nowrap">
              <LogoIcon />
              <Text fw={650} size="lg" lh={1}>
                Orbweaver
              </Text>
            </Group>
          </Anchor>
          <Group gap={4} wrap="nowrap">
            <LanguageMenu />
            <ThemeMenu />
          </Group>
        </Group>
      </Box>
      <Group
        align="flex-start"
        gap="xl"
        wrap="nowrap"
        maw={1280}
        mx="auto"
        px={{ base: 'sm', sm: 'lg' }}
        py="lg"
      >
        <Box
          component="nav"
          aria-label={t('contents')}
          visibleFrom="md"
          w={176}
          pos="sticky"
          top={16}
          style={{ flexShrink: 0 }}
        >
          {[...groups, { id: 'schemas', title: t('schemas') }].map(({ id, title }) => (
            <NavLink
              key={id}
              href={`#${id}`}
              label={title}
              py={6}
              style={{ borderRadius: 'var(--mantine-radius-md)' }}
            />
          ))}
        </Box>
        <Box component="main" id="content" tabIndex={-1} miw={0} style={{ flexGrow: 1 }}>
          {children}
        </Box>
      </Group>
    </>
  )
}
