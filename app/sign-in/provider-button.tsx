'use client'

import { Button, Stack } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useSearchParams } from 'next/navigation'
import { useTranslations } from 'next-intl'
import { postAuth } from '../auth-request'
import { MutationError } from '../query-state'

/** Leads to the provider of single sign-on, and says why nobody came back from it signed in. */
export function ProviderButton({ name }: { name: string }) {
  const t = useTranslations('signIn')
  const refused = useSearchParams().get('error')
  const leave = useMutation({
    mutationFn: () =>
      postAuth<{ url: string }>('sign-in/social', {
        provider: 'oidc',
        callbackURL: '/',
        errorCallbackURL: '/sign-in',
      }),
    onSuccess: ({ url }) => window.location.assign(url),
  })
  return (
    <Stack gap="sm">
      <MutationError
        error={leave.error ?? (refused === null ? null : { message: t(reasonOf(refused), { name }) })}
      />
      <Button
        variant="default"
        fullWidth
        onClick={() => leave.mutate()}
        loading={leave.isPending || leave.isSuccess}
      >
        {t('provider', { name })}
      </Button>
    </Stack>
  )
}

/** @param code of the endpoint that the provider leads back to. */
function reasonOf(code: string) {
  if (code === 'account_disabled') return 'disabled'
  if (/sign_?up/.test(code)) return 'providerStranger'
  return /not_linked/.test(code) ? 'providerUnverified' : 'providerFailed'
}
