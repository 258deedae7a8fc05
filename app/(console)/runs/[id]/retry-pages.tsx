'use client'

import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import type { PageFilter } from '../../../../server/services/page-filter'
import { useFigures } from '../../../figures'
import { Lines, MutationError, QueryState } from '../../../query-state'
import { useTRPC } from '../../../trpc'

type Which = { hashes: string[] } | { filter: Omit<PageFilter, 'state'> }

/** Asks, with their number, before failed pages are tried again: those chosen, or all that the filter shows. */
export function RetryPages({
  id,
  which,
  label,
  offer,
  done,
}: {
  id: number
  which: Which
  /** What the button says instead of how many are chosen. */
  label?: string
  /** Whether there is something to try again. An open question stays, for its answer makes this false. */
  offer: boolean
  done?: () => void
}) {
  const t = useTranslations('retry')
  const figures = useFigures()
  const [open, dialog] = useDisclosure(false)
  if (!offer && !open) return null
  const close = () => {
    dialog.close()
    done?.()
  }
  return (
    <>
      <Button size="xs" variant="default" onClick={dialog.open}>
        {label ??
          ('hashes' in which ? t('chosen', { count: figures.count(which.hashes.length) }) : t('matching'))}
      </Button>
      <Modal
        opened={open}
        onClose={dialog.close}
        title={t('title', { id: String(id) })}
        centered
        closeButtonProps={{ 'aria-label': t('keep') }}
      >
        {open &&
          ('hashes' in which ? (
            <Question id={id} which={which} many={which.hashes.length} whole close={close} />
          ) : (
            <Counted id={id} which={which} close={close} />
          ))}
      </Modal>
    </>
  )
}

function Counted({
  id,
  which,
  close,
}: {
  id: number
  which: Extract<Which, { filter: unknown }>
  close: () => void
}) {
  const trpc = useTRPC()
  const query = useQuery({
    ...trpc.runs.count.queryOptions({ id, filter: { ...which.filter, state: 'failed' } }),
    gcTime: 0,
  })
  return (
    <QueryState query={query} skeleton={<Lines count={2} />}>
      {({ many, whole }) => <Question id={id} which={which} many={many} whole={whole} close={close} />}
    </QueryState>
  )
}

function Question({
  id,
  which,
  many,
  whole,
  close,
}: {
  id: number
  which: Which
  many: number
  whole: boolean
  close: () => void
}) {
  const t = useTranslations('retry')
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  const figures = useFigures()
  const redrive = useMutation(
    trpc.runs.redrive.mutationOptions({
      onSuccess: () => queryClient.invalidateQueries({ queryKey: trpc.runs.pathKey() }),
    }),
  )
  if (redrive.data !== undefined)
    return (
      <Stack gap="md">
        <Alert color="teal" variant="light" role="status">
          {t('done', { count: figures.count(redrive.data) })}
        </Alert>
        <Group justify="flex-end">
          <Button variant="default" onClick={close} data-autofocus>
            {t('close')}
          </Button>
        </Group>
      </Stack>
    )
  if (many === 0 && whole)
    return (
      <Text size="sm" c="dimmed">
        {t('nothing')}
      </Text>
    )
  return (
    <Stack gap="md">
      <Text size="sm">{t(whole ? 'text' : 'textAtLeast', { count: figures.count(many) })}</Text>
      <MutationError error={redrive.error} />
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={close} data-autofocus>
          {t('keep')}
        </Button>
        <Button loading={redrive.isPending} onClick={() => redrive.mutate({ id, ...which })}>
          {t(whole ? 'confirm' : 'confirmAtLeast', { count: figures.count(many) })}
        </Button>
      </Group>
    </Stack>
  )
}
