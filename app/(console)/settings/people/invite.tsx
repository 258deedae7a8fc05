'use client'

import { Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import { MutationError } from '../../../query-state'
import { useTRPC } from '../../../trpc'
import { type Role, RoleChoice } from '../role-choice'

/** Makes an account, and hands its link to `show`: the console sends no mail of its own. */
export function InviteModal({
  opened,
  close,
  show,
}: {
  opened: boolean
  close: () => void
  show: (link: string) => void
}) {
  const t = useTranslations('people')
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={t('inviteTitle')}
      centered
      closeButtonProps={{ 'aria-label': t('cancel') }}
    >
      {opened && <InviteForm close={close} show={show} />}
    </Modal>
  )
}

function InviteForm({ close, show }: { close: () => void; show: (link: string) => void }) {
  const t = useTranslations('people')
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('viewer')
  const invite = useMutation(
    trpc.people.invite.mutationOptions({
      onSuccess: ({ link }) => {
        close()
        show(link)
        return queryClient.invalidateQueries({ queryKey: trpc.people.pathKey() })
      },
    }),
  )
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        invite.mutate({ name, email: email.trim(), role })
      }}
    >
      <Stack gap="sm">
        <TextInput
          label={t('name')}
          value={name}
          maxLength={100}
          onChange={(event) => setName(event.currentTarget.value)}
          required
          withAsterisk={false}
          autoComplete="off"
          data-autofocus
        />
        <TextInput
          label={t('email')}
          type="email"
          value={email}
          maxLength={190}
          onChange={(event) => setEmail(event.currentTarget.value)}
          required
          withAsterisk={false}
          autoComplete="off"
        />
        <RoleChoice label={t('role')} role={role} choose={setRole} />
        <MutationError error={invite.error} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={close}>
            {t('cancel')}
          </Button>
          <Button
            type="submit"
            disabled={name.trim() === '' || email.trim() === ''}
            loading={invite.isPending}
          >
            {t('make')}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
