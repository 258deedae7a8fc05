'use client'

import { Button, Group, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import type { ShownCredentials } from '../../../server/services/credentials'
import { ConfirmModal } from '../../confirm-modal'
import { useFigures } from '../../figures'
import { QueryState } from '../../query-state'
import { SectionHead } from '../../section-head'
import { useTRPC } from '../../trpc'
import { useMayChange } from '../may-change'
import { SignInModal } from './sign-in-form'

/** Sites that a spider signs in at, without what is secret. */
export function SignIn({ spider }: { spider: number }) {
  const t = useTranslations('siteSignIn')
  const trpc = useTRPC()
  const mayChange = useMayChange()
  const query = useQuery(trpc.spiders.credentials.queryOptions({ spider }))
  const [editing, setEditing] = useState<ShownCredentials | 'new'>()
  return (
    <Stack className="panel" p="md" gap="sm" component="section" aria-label={t('title')}>
      <SectionHead title={t('title')} text={t('text')}>
        {mayChange && (
          <Button size="sm" variant="default" onClick={() => setEditing('new')}>
            {t('add')}
          </Button>
        )}
      </SectionHead>
      <QueryState query={query}>
        {(all) =>
          all.length === 0 ? (
            <Text size="sm" c="dimmed">
              {t('none')}
            </Text>
          ) : (
            <Stack gap="sm">
              {all.map((one) => (
                <Site key={one.origin} spider={spider} one={one} change={() => setEditing(one)} />
              ))}
            </Stack>
          )
        }
      </QueryState>
      <SignInModal spider={spider} editing={editing} close={() => setEditing(undefined)} />
    </Stack>
  )
}

function Site({ spider, one, change }: { spider: number; one: ShownCredentials; change: () => void }) {
  const t = useTranslations('siteSignIn')
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  const figures = useFigures()
  const mayChange = useMayChange()
  const [asking, setAsking] = useState(false)
  const { origin, kind, shown, author, updatedAt } = one
  const remove = useMutation(
    trpc.spiders.removeCredentials.mutationOptions({
      onSuccess: () => {
        setAsking(false)
        return queryClient.invalidateQueries({ queryKey: trpc.spiders.credentials.pathKey() })
      },
    }),
  )
  return (
    <Group justify="space-between" gap="xs">
      <div>
        <Text size="sm" fw={600} className="address">
          {origin}
        </Text>
        <Text size="xs" c="dimmed" className="address">
          {[t(`kinds.${kind}`), shown, t('by', { author, time: figures.moment(updatedAt) })]
            .filter((part) => part !== '')
            .join(' · ')}
        </Text>
      </div>
      {mayChange && (
        <Group gap="xs">
          <Button
            size="compact-sm"
            variant="default"
            aria-label={t('changeLabel', { origin })}
            onClick={change}
          >
            {t('change')}
          </Button>
          <Button
            size="compact-sm"
            variant="default"
            aria-label={t('removeLabel', { origin })}
            onClick={() => setAsking(true)}
          >
            {t('remove')}
          </Button>
        </Group>
      )}
      <ConfirmModal
        opened={asking}
        close={() => setAsking(false)}
        title={t('removeTitle', { origin })}
        text={t('removeText')}
        keep={t('keep')}
        confirm={t('remove')}
        change={{
          run: () => remove.mutate({ spider, origin }),
          isPending: remove.isPending,
          error: remove.error,
        }}
      />
    </Group>
  )
}
