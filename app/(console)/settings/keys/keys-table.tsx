'use client'

import { Button, Group, Stack, Table, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { inferRouterOutputs } from '@trpc/server'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import type { AppRouter } from '../../../../server/api/root'
import { ConfirmModal } from '../../../confirm-modal'
import { useFigures } from '../../../figures'
import { Link } from '../../../link'
import { ListFrame, ListTable } from '../../../list-frame'
import { QueryState } from '../../../query-state'
import { SectionHead } from '../../../section-head'
import { ShownOnce } from '../../../shown-once'
import { Tag } from '../../../tag'
import { useTRPC } from '../../../trpc'
import { KeyModal } from './key-form'

type ApiKey = inferRouterOutputs<AppRouter>['keys']['list'][number]

/** Keys with which programs act, newest first; those that open nothing any more stay on record. */
export function KeysTable() {
  const t = useTranslations('keys')
  const roles = useTranslations('person.role')
  const trpc = useTRPC()
  const query = useQuery(trpc.keys.list.queryOptions())
  const [making, setMaking] = useState(false)
  const [key, setKey] = useState<string>()
  return (
    <Stack gap="sm" component="section">
      <SectionHead title={t('title')} text={t('text')}>
        <Group gap="md">
          <Link href="/api/docs">{t('docs')}</Link>
          <Button size="sm" onClick={() => setMaking(true)}>
            {t('make')}
          </Button>
        </Group>
      </SectionHead>
      <QueryState query={query}>
        {(keys) => (
          <ListFrame
            count={keys.length}
            empty={t('none')}
            table={
              <ListTable
                heads={
                  <>
                    <Table.Th>{t('name')}</Table.Th>
                    <Table.Th>{t('role')}</Table.Th>
                    <Table.Th>{t('state')}</Table.Th>
                    <Table.Th>{t('used')}</Table.Th>
                    <Table.Th aria-label={t('actions')} />
                  </>
                }
              >
                {keys.map((one) => (
                  <Table.Tr key={one.id}>
                    <Table.Td>
                      <Name apiKey={one} />
                    </Table.Td>
                    <Table.Td>{roles(one.role)}</Table.Td>
                    <Table.Td>
                      <State apiKey={one} />
                    </Table.Td>
                    <Table.Td>
                      <Used apiKey={one} />
                    </Table.Td>
                    <Table.Td>
                      <Revoke apiKey={one} />
                    </Table.Td>
                  </Table.Tr>
                ))}
              </ListTable>
            }
            cards={keys.map((one) => (
              <Stack key={one.id} className="panel figures" p="sm" gap={6}>
                <Group justify="space-between" gap="xs" align="flex-start">
                  <div>
                    <Name apiKey={one} />
                  </div>
                  <Text size="sm">{roles(one.role)}</Text>
                </Group>
                <div>
                  <State apiKey={one} />
                </div>
                <Text size="xs" c="dimmed">
                  {t('used')}: <Used apiKey={one} />
                </Text>
                <Revoke apiKey={one} />
              </Stack>
            ))}
          />
        )}
      </QueryState>
      <KeyModal opened={making} close={() => setMaking(false)} show={setKey} />
      <ShownOnce title={t('onceTitle')} text={t('onceText')} secret={key} close={() => setKey(undefined)} />
    </Stack>
  )
}

const isOver = ({ revokedAt, expiresAt }: ApiKey) =>
  revokedAt !== null || (expiresAt !== null && expiresAt <= Date.now())

function Name({ apiKey: { id, name, author } }: { apiKey: ApiKey }) {
  const t = useTranslations('keys')
  return (
    <>
      <Text size="sm" fw={600} className="address">
        {name}
      </Text>
      <Text size="xs" c="dimmed" className="address">
        {t('by', { begin: `orb_${id}…`, author })}
      </Text>
    </>
  )
}

function State({ apiKey }: { apiKey: ApiKey }) {
  const t = useTranslations('keys')
  const figures = useFigures()
  const { revokedAt, expiresAt } = apiKey
  if (revokedAt !== null) return <Tag color="gray">{t('revoked')}</Tag>
  return (
    <>
      {isOver(apiKey) ? <Tag color="gray">{t('expired')}</Tag> : <Tag color="teal">{t('valid')}</Tag>}
      <Text size="xs" c="dimmed">
        {expiresAt === null ? t('forEver') : t('until', { time: figures.moment(expiresAt) })}
      </Text>
    </>
  )
}

function Used({ apiKey: { lastUsedAt } }: { apiKey: ApiKey }) {
  const t = useTranslations('keys')
  const figures = useFigures()
  return lastUsedAt === null ? t('never') : figures.moment(lastUsedAt)
}

function Revoke({ apiKey }: { apiKey: ApiKey }) {
  const t = useTranslations('keys')
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  const [asking, setAsking] = useState(false)
  const revoke = useMutation(
    trpc.keys.revoke.mutationOptions({
      onSuccess: () => {
        setAsking(false)
        return queryClient.invalidateQueries({ queryKey: trpc.keys.pathKey() })
      },
    }),
  )
  const { id, name } = apiKey
  if (isOver(apiKey)) return null
  return (
    <Group justify="flex-end">
      <Button
        size="compact-sm"
        variant="default"
        aria-label={t('revokeLabel', { name })}
        onClick={() => setAsking(true)}
      >
        {t('revoke')}
      </Button>
      <ConfirmModal
        opened={asking}
        close={() => setAsking(false)}
        title={t('revokeTitle', { name })}
        text={t('revokeText')}
        keep={t('keep')}
        confirm={t('revoke')}
        change={{ run: () => revoke.mutate({ id }), isPending: revoke.isPending, error: revoke.error }}
      />
    </Group>
  )
}
