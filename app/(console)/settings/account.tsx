'use client'

import { Alert, Button, Group, PasswordInput, Stack, Table, Text, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { inferRouterOutputs } from '@trpc/server'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import type { AppRouter } from '../../../server/api/root'
import { AuthRefusal, postAuth } from '../../auth-request'
import { useFigures } from '../../figures'
import { ListFrame, ListTable } from '../../list-frame'
import { MutationError, QueryState } from '../../query-state'
import { SectionHead } from '../../section-head'
import { useTRPC } from '../../trpc'
import { SecondFactor } from './second-factor'

type Session = inferRouterOutputs<AppRouter>['session']['list'][number]

/** As the server asks; it has the last word. */
const SHORTEST = 10

export function Account() {
  const trpc = useTRPC()
  const { data: me } = useQuery(trpc.session.me.queryOptions())
  return (
    <Stack gap="lg">
      {me?.hasPassword && (
        <>
          <PasswordChange />
          <SecondFactor isOn={me.hasSecondFactor} />
        </>
      )}
      <Sessions />
    </Stack>
  )
}

function PasswordChange() {
  const t = useTranslations('account')
  const signIn = useTranslations('signIn')
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  const [current, setCurrent] = useState('')
  const [next, setNext] = useState('')
  const save = useMutation({
    mutationFn: () =>
      postAuth('change-password', {
        currentPassword: current,
        newPassword: next,
        revokeOtherSessions: true,
      }),
    onSuccess: () => {
      setCurrent('')
      setNext('')
      return queryClient.invalidateQueries({ queryKey: trpc.session.pathKey() })
    },
  })
  const words = (error: Error) =>
    !(error instanceof AuthRefusal)
      ? error.message
      : error.status === 429
        ? signIn('tooMany')
        : error.status === 400 || error.status === 401
          ? t('wrong')
          : error.message
  const field = {
    visibilityToggleButtonProps: { 'aria-label': signIn('show') },
    required: true,
    withAsterisk: false,
    maxLength: 128,
  }
  return (
    <Stack className="panel" p="md" gap="sm" component="section" maw={520} w="100%">
      <Title order={2} size="h5">
        {t('password')}
      </Title>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          save.mutate()
        }}
      >
        <Stack gap="sm">
          <PasswordInput
            {...field}
            label={t('current')}
            autoComplete="current-password"
            value={current}
            onChange={(event) => setCurrent(event.currentTarget.value)}
          />
          <PasswordInput
            {...field}
            label={t('next')}
            description={t('nextText', { length: SHORTEST })}
            autoComplete="new-password"
            minLength={SHORTEST}
            value={next}
            onChange={(event) => setNext(event.currentTarget.value)}
          />
          <MutationError error={save.error && { message: words(save.error) }} />
          {save.isSuccess && (
            <Alert color="teal" variant="light" role="status" py="xs">
              {t('changed')}
            </Alert>
          )}
          <Group>
            <Button type="submit" loading={save.isPending}>
              {t('change')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Stack>
  )
}

function Sessions() {
  const t = useTranslations('account')
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  const query = useQuery(trpc.session.list.queryOptions())
  const others = useMutation({
    mutationFn: () => postAuth('revoke-other-sessions', {}),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: trpc.session.pathKey() }),
  })
  return (
    <Stack gap="sm" component="section">
      <SectionHead title={t('sessions')} text={t('sessionsText')}>
        {(query.data?.length ?? 0) > 1 && (
          <Button size="sm" variant="default" loading={others.isPending} onClick={() => others.mutate()}>
            {t('endOthers')}
          </Button>
        )}
      </SectionHead>
      <MutationError error={others.error} />
      <QueryState query={query}>
        {(sessions) => (
          <ListFrame
            table={
              <ListTable
                heads={
                  <>
                    <Table.Th>{t('browser')}</Table.Th>
                    <Table.Th>{t('address')}</Table.Th>
                    <Table.Th>{t('started')}</Table.Th>
                    <Table.Th aria-label={t('actions')} />
                  </>
                }
              >
                {sessions.map((session) => (
                  <Table.Tr key={session.id}>
                    <Table.Td className="address" w="50%">
                      {session.browser ?? '–'}
                    </Table.Td>
                    <Table.Td>{session.address ?? '–'}</Table.Td>
                    <Table.Td>
                      <Started session={session} />
                    </Table.Td>
                    <Table.Td>
                      <EndSession session={session} />
                    </Table.Td>
                  </Table.Tr>
                ))}
              </ListTable>
            }
            cards={sessions.map((session) => (
              <Stack key={session.id} className="panel figures" p="sm" gap={6}>
                <Text size="sm" className="address">
                  {session.browser ?? '–'}
                </Text>
                <Text size="xs" c="dimmed">
                  {session.address ?? '–'} · <Started session={session} />
                </Text>
                <EndSession session={session} />
              </Stack>
            ))}
          />
        )}
      </QueryState>
    </Stack>
  )
}

function Started({ session }: { session: Session }) {
  return useFigures().moment(session.startedAt)
}

function EndSession({ session: { id } }: { session: Session }) {
  const t = useTranslations('account')
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  const end = useMutation(
    trpc.session.end.mutationOptions({
      onSuccess: () => queryClient.invalidateQueries({ queryKey: trpc.session.pathKey() }),
    }),
  )
  return (
    <Group justify="flex-end">
      <Button size="compact-sm" variant="default" loading={end.isPending} onClick={() => end.mutate({ id })}>
        {t('end')}
      </Button>
    </Group>
  )
}
