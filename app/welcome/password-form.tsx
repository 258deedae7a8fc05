'use client'

import { Button, Center, PasswordInput, Stack, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import { Link } from '../link'
import { MutationError } from '../query-state'
import { useTRPC } from '../trpc'

/** As the server asks; it has the last word. */
const SHORTEST = 10

export function PasswordForm() {
  const t = useTranslations('welcome')
  const signIn = useTranslations('signIn')
  const trpc = useTRPC()
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const save = useMutation(
    trpc.session.setPassword.mutationOptions({ onSuccess: () => window.location.assign('/') }),
  )
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        save.mutate({ email: email.trim(), password })
      }}
    >
      <Stack gap="sm">
        <TextInput
          label={signIn('email')}
          type="email"
          autoComplete="username"
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
          required
          withAsterisk={false}
        />
        <PasswordInput
          label={t('newPassword')}
          description={t('passwordRule', { length: SHORTEST })}
          autoComplete="new-password"
          minLength={SHORTEST}
          maxLength={128}
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          visibilityToggleButtonProps={{ 'aria-label': signIn('show') }}
          required
          withAsterisk={false}
        />
        <MutationError error={save.error} />
        <Button type="submit" loading={save.isPending || save.isSuccess} fullWidth mt="xs">
          {t('save')}
        </Button>
        <Center>
          <Link href="/">{t('skip')}</Link>
        </Center>
      </Stack>
    </form>
  )
}
