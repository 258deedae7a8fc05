'use client'

import { Button, Group, Modal, NativeSelect, PasswordInput, Stack, Textarea, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import type { Credentials } from '../../../core/credentials'
import type { ShownCredentials } from '../../../server/services/credentials'
import { MutationError } from '../../query-state'
import { useTRPC } from '../../trpc'
import { headersOf } from './draft'

const KINDS: Credentials['kind'][] = ['basic', 'bearer', 'headers']
const EXAMPLE_HEADER = 'X-Api-Key: abc123'

export function SignInModal({
  spider,
  editing,
  close,
}: {
  spider: number
  editing: ShownCredentials | 'new' | undefined
  close: () => void
}) {
  const t = useTranslations('siteSignIn')
  return (
    <Modal
      opened={editing !== undefined}
      onClose={close}
      title={t('title')}
      centered
      closeButtonProps={{ 'aria-label': t('cancel') }}
    >
      {editing && (
        <SignInForm spider={spider} before={editing === 'new' ? undefined : editing} close={close} />
      )}
    </Modal>
  )
}

/** What is secret is typed anew each time: nobody can read what is there. */
function SignInForm({
  spider,
  before,
  close,
}: {
  spider: number
  before: ShownCredentials | undefined
  close: () => void
}) {
  const t = useTranslations('siteSignIn')
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  const [origin, setOrigin] = useState(before?.origin ?? '')
  const [kind, setKind] = useState<Credentials['kind']>(before?.kind ?? 'basic')
  const [user, setUser] = useState(before?.kind === 'basic' ? before.shown : '')
  const [secret, setSecret] = useState('')
  const save = useMutation(
    trpc.spiders.saveCredentials.mutationOptions({
      onSuccess: () => {
        close()
        return queryClient.invalidateQueries({ queryKey: trpc.spiders.credentials.pathKey() })
      },
    }),
  )
  const credentials = (): Credentials => {
    if (kind === 'basic') return { kind, user, password: secret }
    return kind === 'bearer' ? { kind, token: secret.trim() } : { kind, headers: headersOf(secret) }
  }
  const field = { required: true, withAsterisk: false, spellCheck: false } as const
  return (
    <form
      autoComplete="off"
      onSubmit={(event) => {
        event.preventDefault()
        save.mutate({ spider, origin, credentials: { ...credentials() } })
      }}
    >
      <Stack gap="sm">
        <TextInput
          {...field}
          label={t('origin')}
          description={t('originText')}
          placeholder="https://example.com/"
          value={origin}
          disabled={before !== undefined}
          onChange={(event) => setOrigin(event.currentTarget.value)}
        />
        <NativeSelect
          label={t('kind')}
          data={KINDS.map((value) => ({ value, label: t(`kinds.${value}`) }))}
          value={kind}
          onChange={(event) => {
            setKind(event.currentTarget.value as Credentials['kind'])
            setSecret('')
          }}
        />
        {kind === 'basic' && (
          <TextInput
            {...field}
            label={t('user')}
            value={user}
            onChange={(event) => setUser(event.currentTarget.value)}
          />
        )}
        {kind === 'headers' ? (
          <Textarea
            {...field}
            label={t('headers')}
            description={t('headersText')}
            placeholder={EXAMPLE_HEADER}
            autosize
            minRows={2}
            value={secret}
            onChange={(event) => setSecret(event.currentTarget.value)}
          />
        ) : (
          <PasswordInput
            {...field}
            label={t(kind === 'basic' ? 'password' : 'token')}
            autoComplete="new-password"
            value={secret}
            onChange={(event) => setSecret(event.currentTarget.value)}
          />
        )}
        <MutationError error={save.error} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={close}>
            {t('cancel')}
          </Button>
          <Button type="submit" loading={save.isPending} disabled={origin.trim() === '' || secret === ''}>
            {t('save')}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
