'use client'

import { Alert, Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import { AuthRefusal, postAuth } from '../auth-request'
import { MutationError } from '../query-state'
import { useTRPC } from '../trpc'
import { CodeForm } from './code-form'
import { ProviderButton } from './provider-button'

export function SignInForm() {
  const t = useTranslations('signIn')
  const trpc = useTRPC()
  const setup = useQuery(trpc.session.setup.queryOptions())
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const signIn = useMutation({
    mutationFn: () =>
      postAuth<{ twoFactorRedirect?: boolean }>('sign-in/email', { email: email.trim(), password }),
    onSuccess: ({ twoFactorRedirect }) => {
      if (!twoFactorRedirect) window.location.assign('/')
    },
  })
  const words = (error: Error) =>
    error instanceof AuthRefusal && error.status === 401
      ? t('wrong')
      : error instanceof AuthRefusal && error.status === 429
        ? t('tooMany')
        : error instanceof AuthRefusal && error.status === 423
          ? t('disabled')
          : error.message
  if (signIn.data?.twoFactorRedirect) return <CodeForm />
  const provider = setup.data?.provider && <ProviderButton name={setup.data.provider} />
  if (setup.data?.linkNeeded)
    return (
      <Stack gap="md">
        {provider}
        <Alert color="indigo" variant="light" title={t('linkTitle')}>
          <Text size="sm">{t('linkText')}</Text>
        </Alert>
      </Stack>
    )
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        signIn.mutate()
      }}
    >
      <Stack gap="sm">
        <TextInput
          label={t('email')}
          type="email"
          autoComplete="username"
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
          required
          withAsterisk={false}
          autoFocus
        />
        <PasswordInput
          label={t('password')}
          autoComplete="current-password"
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          visibilityToggleButtonProps={{ 'aria-label': t('show') }}
          required
          withAsterisk={false}
        />
        <MutationError error={signIn.error && { message: words(signIn.error) }} />
        <Button type="submit" loading={signIn.isPending || signIn.isSuccess} fullWidth mt="xs">
          {t('submit')}
        </Button>
        {provider}
      </Stack>
    </form>
  )
}
