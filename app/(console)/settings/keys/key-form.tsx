'use client'

import { Button, Group, Modal, NativeSelect, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import { MutationError } from '../../../query-state'
import { useTRPC } from '../../../trpc'
import { type Role, RoleChoice } from '../role-choice'

/** Days; 0 is for ever. */
const TERMS = [30, 90, 365, 0] as const

export function KeyModal({
  opened,
  close,
  show,
}: {
  opened: boolean
  close: () => void
  show: (key: string) => void
}) {
  const t = useTranslations('keys')
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={t('make')}
      centered
      closeButtonProps={{ 'aria-label': t('cancel') }}
    >
      {opened && <KeyForm close={close} show={show} />}
    </Modal>
  )
}

function KeyForm({ close, show }: { close: () => void; show: (key: string) => void }) {
  const t = useTranslations('keys')
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('viewer')
  const [days, setDays] = useState<number>(90)
  const create = useMutation(
    trpc.keys.create.mutationOptions({
      onSuccess: ({ key }) => {
        close()
        show(key)
        return queryClient.invalidateQueries({ queryKey: trpc.keys.pathKey() })
      },
    }),
  )
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        create.mutate({ name, role, ...(days > 0 && { days }) })
      }}
    >
      <Stack gap="sm">
        <TextInput
          label={t('name')}
          description={t('nameText')}
          value={name}
          maxLength={100}
          onChange={(event) => setName(event.currentTarget.value)}
          required
          withAsterisk={false}
          autoComplete="off"
          data-autofocus
        />
        <RoleChoice label={t('role')} role={role} choose={setRole} />
        <NativeSelect
          label={t('expires')}
          data={TERMS.map((term) => ({
            value: String(term),
            label: term === 0 ? t('forEver') : t('days', { days: term }),
          }))}
          value={String(days)}
          onChange={(event) => setDays(Number(event.currentTarget.value))}
        />
        <MutationError error={create.error} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={close}>
            {t('cancel')}
          </Button>
          <Button type="submit" disabled={name.trim() === ''} loading={create.isPending}>
            {t('confirm')}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
