'use client'

import { Alert, Button, Code, CopyButton, Group, Modal, Stack, Text } from '@mantine/core'
import { useTranslations } from 'next-intl'

/** Something secret that can be read now and never again, such as a key. It is gone from the page when it is closed. */
export function ShownOnce({
  title,
  text,
  secret,
  close,
}: {
  title: string
  text: string
  /** Undefined: closed. */
  secret: string | undefined
  close: () => void
}) {
  const t = useTranslations('shownOnce')
  return (
    <Modal
      opened={secret !== undefined}
      onClose={close}
      title={title}
      centered
      size="lg"
      // A click beside it must not lose what can't be had again.
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      <Stack gap="md">
        <Alert color="orange" variant="light" py="xs">
          <Text size="sm">{text}</Text>
        </Alert>
        <Code block className="address" style={{ whiteSpace: 'pre-wrap' }}>
          {secret}
        </Code>
        <Group justify="flex-end" gap="xs">
          <CopyButton value={secret ?? ''}>
            {({ copied, copy }) => <Button onClick={copy}>{t(copied ? 'copied' : 'copy')}</Button>}
          </CopyButton>
          <Button variant="default" onClick={close}>
            {t('done')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
