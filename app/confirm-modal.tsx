'use client'

import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Failure } from './fault-words'
import { MutationError } from './query-state'

/** Asks before something that can't be undone. `keep` is what leaves it as it is, and has the focus. */
export function ConfirmModal({
  opened,
  close,
  title,
  text,
  keep,
  confirm,
  change,
}: {
  opened: boolean
  close: () => void
  title: string
  text: ReactNode
  keep: string
  confirm: string
  change: { run: () => void; isPending: boolean; error: Failure | null }
}) {
  return (
    <Modal opened={opened} onClose={close} title={title} centered closeButtonProps={{ 'aria-label': keep }}>
      <Stack gap="md">
        <Text size="sm" component="div" className="address">
          {text}
        </Text>
        <MutationError error={change.error} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={close} data-autofocus>
            {keep}
          </Button>
          <Button color="red" loading={change.isPending} onClick={change.run}>
            {confirm}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
