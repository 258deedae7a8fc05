'use client'

import { ActionIcon, Menu, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import Link from 'next/link'
import { useTranslations } from 'next-intl'
import { postAuth } from '../auth-request'
import { PersonIcon } from '../icons'
import { useTRPC } from '../trpc'

export function PersonMenu() {
  const t = useTranslations('person')
  const trpc = useTRPC()
  const { data: me } = useQuery(trpc.session.me.queryOptions())
  const signOut = useMutation({
    mutationFn: () => postAuth('sign-out', {}),
    // A full load, so that nothing of the session stays in memory.
    onSuccess: () => window.location.assign('/sign-in'),
  })
  return (
    <Menu position="bottom-end" width={240} withinPortal>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('menu')}>
          <PersonIcon />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {me && (
          <>
            <Menu.Label>
              <Text size="sm" fw={600} c="var(--mantine-color-text)" className="address">
                {me.name}
              </Text>
              {me.email && (
                <Text size="xs" className="address">
                  {me.email}
                </Text>
              )}
              <Text size="xs">{t(`role.${me.role}`)}</Text>
            </Menu.Label>
            <Menu.Divider />
            <Menu.Item component={Link} href="/settings">
              {t('settings')}
            </Menu.Item>
            {!me.hasPassword && (
              <Menu.Item component={Link} href="/welcome">
                {t('setPassword')}
              </Menu.Item>
            )}
          </>
        )}
        <Menu.Item onClick={() => signOut.mutate()} closeMenuOnClick={false} disabled={signOut.isPending}>
          {signOut.isError ? signOut.error.message : t('signOut')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
