'use client'

import { Button, Stack } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import { AuthRefusal, postAuth } from '../auth-request'
import { MutationError } from '../query-state'

export function OpenConsole({ token }: { token: string }) {
  const t = useTranslations('welcome')
  const open = useMutation({
    mutationFn: () => postAuth('sign-in/link', { token }),
    // Without the token, which is used up and has no business in the history.
    onSuccess: () => window.location.replace('/welcome'),
  })
  const used = open.error instanceof AuthRefusal && open.error.status === 401
  return (
    <Stack gap="sm">
      <MutationError error={open.error && { message: used ? t('used') : open.error.message }} />
      <Button onClick={() => open.mutate()} loading={open.isPending || open.isSuccess} fullWidth autoFocus>
        {t('open')}
      </Button>
    </Stack>
  )
}
