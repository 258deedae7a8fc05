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
  const signIn = useTranslations('signIn')
  const words = (error: Error) => {
    const status = error instanceof AuthRefusal ? error.status : undefined
    return status === 401 ? t('used') : status === 423 ? signIn('disabled') : error.message
  }
  return (
    <Stack gap="sm">
      <MutationError error={open.error && { message: words(open.error) }} />
      <Button onClick={() => open.mutate()} loading={open.isPending || open.isSuccess} fullWidth autoFocus>
        {t('open')}
      </Button>
    </Stack>
  )
}
