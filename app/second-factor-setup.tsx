'use client'

import { Alert, Button, Code, CopyButton, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import { AuthRefusal, postAuth } from './auth-request'
import { QrCode } from './qr-code'
import { MutationError } from './query-state'
import { useTRPC } from './trpc'

/** Shows what is to be done: the password, the code to scan and the first code of the app, and the backup codes, once. */
export function SecondFactorSetup({ done, cancel }: { done: () => void; cancel?: () => void }) {
  const t = useTranslations('secondFactor')
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  const words = useRefusalWords()
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const begin = useMutation({
    mutationFn: () => postAuth<{ totpURI: string; backupCodes: string[] }>('two-factor/enable', { password }),
  })
  const verify = useMutation({
    mutationFn: () => postAuth('two-factor/verify-totp', { code: code.trim() }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: trpc.session.pathKey() }),
  })
  if (verify.isSuccess) return <BackupCodes codes={begin.data!.backupCodes} done={done} />
  if (!begin.isSuccess)
    return (
      <PasswordStep
        password={password}
        change={setPassword}
        go={() => begin.mutate()}
        words={t('begin')}
        cancel={cancel}
        isPending={begin.isPending}
        error={begin.error && { message: words(begin.error) }}
      />
    )
  const { totpURI } = begin.data
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        verify.mutate()
      }}
    >
      <Stack gap="sm">
        <Text size="sm">{t('scan')}</Text>
        <QrCode text={totpURI} label={t('qr')} />
        <Text size="xs" c="dimmed">
          {t('byHand')} <Code className="address">{new URL(totpURI).searchParams.get('secret')}</Code>
        </Text>
        <CodeInput code={code} change={setCode} />
        <MutationError error={verify.error && { message: words(verify.error) }} />
        <Group>
          <Button type="submit" loading={verify.isPending}>
            {t('verify')}
          </Button>
          <Cancel cancel={cancel} />
        </Group>
      </Stack>
    </form>
  )
}

/** One's password, before something that who sits down at an open console must not do. */
export function PasswordStep({
  password,
  change,
  go,
  words,
  cancel,
  isPending,
  error,
}: {
  password: string
  change: (password: string) => void
  go: () => void
  words: string
  cancel: (() => void) | undefined
  isPending: boolean
  error: { message: string } | null
}) {
  const t = useTranslations('account')
  const signIn = useTranslations('signIn')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        go()
      }}
    >
      <Stack gap="sm">
        <PasswordInput
          label={t('current')}
          autoComplete="current-password"
          value={password}
          onChange={(event) => change(event.currentTarget.value)}
          visibilityToggleButtonProps={{ 'aria-label': signIn('show') }}
          required
          withAsterisk={false}
          maxLength={128}
        />
        <MutationError error={error} />
        <Group>
          <Button type="submit" loading={isPending}>
            {words}
          </Button>
          <Cancel cancel={cancel} />
        </Group>
      </Stack>
    </form>
  )
}

function Cancel({ cancel }: { cancel: (() => void) | undefined }) {
  const t = useTranslations('secondFactor')
  return (
    cancel && (
      <Button variant="default" onClick={cancel}>
        {t('cancel')}
      </Button>
    )
  )
}

/** Six digits of the app. */
export function CodeInput({ code, change }: { code: string; change: (code: string) => void }) {
  const t = useTranslations('secondFactor')
  return (
    <TextInput
      label={t('code')}
      description={t('codeText')}
      value={code}
      onChange={(event) => change(event.currentTarget.value)}
      inputMode="numeric"
      autoComplete="one-time-code"
      maxLength={10}
      required
      withAsterisk={false}
      autoFocus
    />
  )
}

/** They are in the page until it is closed, and can't be had again. */
export function BackupCodes({ codes, done }: { codes: string[]; done: () => void }) {
  const t = useTranslations('secondFactor')
  const once = useTranslations('shownOnce')
  return (
    <Stack gap="sm">
      <Alert color="orange" variant="light" py="xs">
        <Text size="sm">{t('backupText')}</Text>
      </Alert>
      <Code block role="region" aria-label={t('backupCodes')} tabIndex={0}>
        {codes.join('\n')}
      </Code>
      <Group gap="xs">
        <CopyButton value={codes.join('\n')}>
          {({ copied, copy }) => (
            <Button variant="default" onClick={copy}>
              {once(copied ? 'copied' : 'copy')}
            </Button>
          )}
        </CopyButton>
        <Button onClick={done}>{once('done')}</Button>
      </Group>
    </Stack>
  )
}

/** What the endpoints refuse with, in the reader's language. */
export function useRefusalWords(): (error: Error) => string {
  const t = useTranslations('secondFactor')
  const account = useTranslations('account')
  const signIn = useTranslations('signIn')
  return (error) => {
    const status = error instanceof AuthRefusal ? error.status : undefined
    if (status === 429) return signIn('tooMany')
    if (status === 401) return t('wrongCode')
    return status === 400 ? account('wrong') : error.message
  }
}
