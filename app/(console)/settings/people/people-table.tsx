'use client'

import { Button, Group, NativeSelect, Stack, Table, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { inferRouterOutputs } from '@trpc/server'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import type { AppRouter } from '../../../../server/api/root'
import { ConfirmModal } from '../../../confirm-modal'
import { useFigures } from '../../../figures'
import { ListFrame, ListTable } from '../../../list-frame'
import { MutationError, QueryState } from '../../../query-state'
import { SectionHead } from '../../../section-head'
import { ShownOnce } from '../../../shown-once'
import { Tag } from '../../../tag'
import { useTRPC } from '../../../trpc'
import { ROLES } from '../role-choice'
import { InviteModal } from './invite'
import { SecondFactorMenu } from './second-factor-menu'

type Person = inferRouterOutputs<AppRouter>['people']['list'][number]

/** Who may use the console, and as what. */
export function PeopleTable() {
  const t = useTranslations('people')
  const trpc = useTRPC()
  const query = useQuery(trpc.people.list.queryOptions())
  const [inviting, setInviting] = useState(false)
  const [link, setLink] = useState<string>()
  return (
    <Stack gap="sm" component="section">
      <SectionHead title={t('title')} text={t('text')}>
        <Button size="sm" onClick={() => setInviting(true)}>
          {t('invite')}
        </Button>
      </SectionHead>
      <QueryState query={query}>
        {(people) => (
          <ListFrame
            table={
              <ListTable
                heads={
                  <>
                    <Table.Th>{t('name')}</Table.Th>
                    <Table.Th>{t('role')}</Table.Th>
                    <Table.Th>{t('seen')}</Table.Th>
                    <Table.Th aria-label={t('actions')} />
                  </>
                }
              >
                {people.map((person) => (
                  <Table.Tr key={person.id}>
                    <Table.Td className="address">
                      <Name person={person} />
                    </Table.Td>
                    <Table.Td>
                      <RoleSelect person={person} />
                    </Table.Td>
                    <Table.Td>
                      <Seen person={person} />
                    </Table.Td>
                    <Table.Td>
                      <Actions person={person} show={setLink} />
                    </Table.Td>
                  </Table.Tr>
                ))}
              </ListTable>
            }
            cards={people.map((person) => (
              <Stack key={person.id} className="panel figures" p="sm" gap={6}>
                <Name person={person} />
                <Text size="xs" c="dimmed">
                  {t('seen')}: <Seen person={person} />
                </Text>
                <RoleSelect person={person} />
                <Actions person={person} show={setLink} />
              </Stack>
            ))}
          />
        )}
      </QueryState>
      <InviteModal opened={inviting} close={() => setInviting(false)} show={setLink} />
      <ShownOnce title={t('linkTitle')} text={t('linkText')} secret={link} close={() => setLink(undefined)} />
    </Stack>
  )
}

function Name({
  person: { name, email, disabledAt, hasSecondFactor, secondFactorRequired },
}: {
  person: Person
}) {
  const t = useTranslations('people')
  return (
    <>
      <Group gap={6}>
        <Text size="sm" fw={600} className="address">
          {name}
        </Text>
        {disabledAt !== null && <Tag color="gray">{t('disabled')}</Tag>}
        {hasSecondFactor && <Tag color="teal">{t('secondFactor')}</Tag>}
        {secondFactorRequired && !hasSecondFactor && <Tag color="orange">{t('secondFactorOwed')}</Tag>}
      </Group>
      {!email.endsWith('.invalid') && (
        <Text size="xs" c="dimmed" className="address">
          {email}
        </Text>
      )}
    </>
  )
}

function Seen({ person: { seenAt, hasPassword, disabledAt } }: { person: Person }) {
  const t = useTranslations('people')
  const figures = useFigures()
  if (disabledAt !== null) return t('disabledSince', { moment: figures.moment(disabledAt) })
  if (seenAt !== null) return figures.moment(seenAt)
  return t(hasPassword ? 'signedOut' : 'invited')
}

function RoleSelect({ person }: { person: Person }) {
  const t = useTranslations('people')
  const roles = useTranslations('person.role')
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  const save = useMutation(
    trpc.people.changeRole.mutationOptions({
      onSuccess: () => queryClient.invalidateQueries({ queryKey: trpc.people.pathKey() }),
    }),
  )
  return (
    <Stack gap={4}>
      <NativeSelect
        size="xs"
        w={150}
        aria-label={t('roleLabel', { name: person.name })}
        data={ROLES.map((value) => ({ value, label: roles(value) }))}
        value={person.role}
        disabled={save.isPending}
        onChange={(event) =>
          save.mutate({ id: person.id, role: event.currentTarget.value as Person['role'] })
        }
      />
      <MutationError error={save.error} />
    </Stack>
  )
}

function Actions({ person, show }: { person: Person; show: (link: string) => void }) {
  const t = useTranslations('people')
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  const [asking, ask] = useState<'reset' | 'disable' | 'remove'>()
  const refresh = () => queryClient.invalidateQueries({ queryKey: trpc.people.pathKey() })
  const linked = ({ link }: { link: string }) => {
    ask(undefined)
    show(link)
    return refresh()
  }
  const again = useMutation(trpc.people.inviteAgain.mutationOptions({ onSuccess: linked }))
  const reset = useMutation(trpc.people.resetPassword.mutationOptions({ onSuccess: linked }))
  const signOut = useMutation(trpc.people.signOut.mutationOptions({ onSuccess: refresh }))
  const disable = useMutation(
    trpc.people.disable.mutationOptions({
      onSuccess: () => {
        ask(undefined)
        return refresh()
      },
    }),
  )
  const enable = useMutation(trpc.people.enable.mutationOptions({ onSuccess: refresh }))
  const remove = useMutation(trpc.people.remove.mutationOptions({ onSuccess: refresh }))
  const { id, name, hasPassword, seenAt, disabledAt } = person
  const button = { size: 'compact-sm', variant: 'default' } as const
  return (
    <Stack gap={4}>
      <Group gap={4} justify="flex-end">
        {disabledAt !== null ? (
          <Button
            {...button}
            aria-label={t('enableLabel', { name })}
            loading={enable.isPending}
            onClick={() => enable.mutate({ id })}
          >
            {t('enable')}
          </Button>
        ) : hasPassword ? (
          <Button {...button} aria-label={t('resetLabel', { name })} onClick={() => ask('reset')}>
            {t('reset')}
          </Button>
        ) : (
          <Button
            {...button}
            aria-label={t('againLabel', { name })}
            loading={again.isPending}
            onClick={() => again.mutate({ id })}
          >
            {t('again')}
          </Button>
        )}
        {seenAt !== null && (
          <Button
            {...button}
            aria-label={t('signOutLabel', { name })}
            loading={signOut.isPending}
            onClick={() => signOut.mutate({ id })}
          >
            {t('signOut')}
          </Button>
        )}
        <SecondFactorMenu person={person} />
        {disabledAt === null && (
          <Button {...button} aria-label={t('disableLabel', { name })} onClick={() => ask('disable')}>
            {t('disable')}
          </Button>
        )}
        <Button {...button} aria-label={t('removeLabel', { name })} onClick={() => ask('remove')}>
          {t('remove')}
        </Button>
      </Group>
      <MutationError error={again.error ?? signOut.error ?? enable.error} />
      <ConfirmModal
        opened={asking === 'reset'}
        close={() => ask(undefined)}
        title={t('resetTitle', { name })}
        text={t('resetText')}
        keep={t('keep')}
        confirm={t('reset')}
        change={{ run: () => reset.mutate({ id }), isPending: reset.isPending, error: reset.error }}
      />
      <ConfirmModal
        opened={asking === 'disable'}
        close={() => ask(undefined)}
        title={t('disableTitle', { name })}
        text={t('disableText')}
        keep={t('keep')}
        confirm={t('disable')}
        change={{ run: () => disable.mutate({ id }), isPending: disable.isPending, error: disable.error }}
      />
      <ConfirmModal
        opened={asking === 'remove'}
        close={() => ask(undefined)}
        title={t('removeTitle', { name })}
        text={t('removeText')}
        keep={t('keep')}
        confirm={t('remove')}
        change={{ run: () => remove.mutate({ id }), isPending: remove.isPending, error: remove.error }}
      />
    </Stack>
  )
}
