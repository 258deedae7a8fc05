'use client'

import { Anchor, Button, Stack, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import { postAuth } from '../auth-request'
import { MutationError } from '../query-state'
import { CodeInput, useRefusalWords } from '../second-factor-setup'

/** The second step of signing in: a code of the app, or a backup code. */
export function CodeForm() {
  const t = useTranslations('secondFactor')
  const words = useRefusalWords()
  const [code, setCode] = useState('')
  const [hasApp, setHasApp] = useState(true)
  const verify = useMutation({
    mutationFn: () =>
      postAuth(hasApp ? 'two-factor/verify-totp' : 'two-factor/verify-backup-code', { code: code.trim() }),
    onSuccess: () => window.location.assign('/'),
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        verify.mutate()
      }}
    >
      <Stack gap="sm">
        {hasApp ? (
          <CodeInput code={code} change={setCode} />
        ) : (
          <TextInput
            label={t('backupCode')}
            description={t('backupCodeText')}
            value={code}
            onChange={(event) => setCode(event.currentTarget.value)}
            autoComplete="off"
            maxLength={20}
            required
            withAsterisk={false}
            autoFocus
          />
        )}
        <MutationError error={verify.error && { message: words(verify.error) }} />
        <Button type="submit" loading={verify.isPending || verify.isSuccess} fullWidth mt="xs">
          {t('verify')}
        </Button>
        <Anchor
          component="button"
          type="button"
          size="sm"
          onClick={() => {
            setCode('')
            verify.reset()
            setHasApp(!hasApp)
          }}
        >
          {t(hasApp ? 'useBackup' : 'useApp')}
        </Anchor>
        <Text size="xs" c="dimmed">
          {t('lost')}
        </Text>
      </Stack>
    </form>
  )
}
