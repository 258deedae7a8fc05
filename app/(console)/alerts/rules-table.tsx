'use client'

import { Button, Group, Stack, Table, Text, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import { useFigures } from '../../figures'
import { ListFrame, ListTable } from '../../list-frame'
import { MutationError, QueryState } from '../../query-state'
import { Tag } from '../../tag'
import { useTRPC } from '../../trpc'
import { useIsAdmin, useMayChange } from '../may-change'
import { useAlertWords } from './alert-words'
import { type Rule, RuleModal } from './rule-form'

const HOUR_MS = 3_600_000

/** What is watched, and from where on it is told. */
export function RulesTable() {
  const t = useTranslations('alerts')
  const trpc = useTRPC()
  const query = useQuery({ ...trpc.alerts.rules.queryOptions(), refetchInterval: 10_000 })
  return (
    <Stack gap="sm" component="section">
      <Title order={2} size="h5">
        {t('rules')}
      </Title>
      <QueryState query={query}>
        {(rules) => (
          <ListFrame
            table={
              <ListTable
                heads={
                  <>
                    <Table.Th>{t('rule')}</Table.Th>
                    <Table.Th>{t('when')}</Table.Th>
                    <Table.Th>{t('state')}</Table.Th>
                    <Table.Th aria-label={t('actions')} />
                  </>
                }
              >
                {rules.map((rule) => (
                  <Line key={rule.kind} rule={rule} />
                ))}
              </ListTable>
            }
            cards={rules.map((rule) => <Card key={rule.kind} rule={rule} />)}
          />
        )}
      </QueryState>
    </Stack>
  )
}

function Line({ rule }: { rule: Rule }) {
  const words = useAlertWords()
  return (
    <Table.Tr>
      <Table.Td fw={600}>{words.rule(rule.kind)}</Table.Td>
      <Table.Td>
        <When rule={rule} />
      </Table.Td>
      <Table.Td>
        <State rule={rule} />
      </Table.Td>
      <Table.Td>
        <Actions rule={rule} />
      </Table.Td>
    </Table.Tr>
  )
}

/** The same on a narrow screen. */
function Card({ rule }: { rule: Rule }) {
  const words = useAlertWords()
  return (
    <Stack className="panel figures" p="sm" gap={6}>
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={600}>
          {words.rule(rule.kind)}
        </Text>
        <State rule={rule} />
      </Group>
      <When rule={rule} />
      <Actions rule={rule} />
    </Stack>
  )
}

function When({ rule }: { rule: Rule }) {
  const t = useTranslations('alerts')
  const words = useAlertWords()
  const threshold = words.figure(rule.kind, rule.threshold)
  return (
    <Text size="sm" className="figures">
      {t(rule.kind === 'success_rate' ? 'below' : 'reached', { threshold })}
      <Text size="xs" c="dimmed" component="span" display="block">
        {[
          rule.windowed && t('within', { minutes: rule.windowMinutes }),
          rule.holdMinutes > 0 && t('holds', { minutes: rule.holdMinutes }),
          rule.channels && t('onlyChannels', { count: rule.channels.length }),
        ]
          .filter(Boolean)
          .join(' · ')}
      </Text>
    </Text>
  )
}

const silentNow = ({ silentUntil }: Rule) => silentUntil !== null && silentUntil > Date.now()

function State({ rule }: { rule: Rule }) {
  const t = useTranslations('alerts')
  const figures = useFigures()
  if (!rule.enabled) return <Tag color="gray">{t('off')}</Tag>
  if (!silentNow(rule)) return <Tag color="teal">{t('on')}</Tag>
  return (
    <>
      <Tag color="orange">{t('silenced')}</Tag>
      <Text size="xs" c="dimmed">
        {t('until', { time: figures.moment(rule.silentUntil!) })}
      </Text>
    </>
  )
}

/** Operators silence; changing a rule is an administrator's. */
function Actions({ rule }: { rule: Rule }) {
  const t = useTranslations('alerts')
  const words = useAlertWords()
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  const mayChange = useMayChange()
  const isAdmin = useIsAdmin()
  const [editing, setEditing] = useState(false)
  const onSuccess = () => queryClient.invalidateQueries({ queryKey: trpc.alerts.pathKey() })
  const silence = useMutation(trpc.alerts.silence.mutationOptions({ onSuccess }))
  const save = useMutation(trpc.alerts.saveRule.mutationOptions({ onSuccess }))
  if (!mayChange) return null
  const { silentUntil: _, unit: __, windowed: ___, ...input } = rule
  const name = words.rule(rule.kind)
  const silent = silentNow(rule)
  return (
    <Stack gap={4} align="flex-end">
      <Group gap={4} wrap="nowrap" justify="flex-end">
        {rule.enabled && (
          <Button
            size="compact-sm"
            variant="default"
            loading={silence.isPending}
            aria-label={t(silent ? 'speakLabel' : 'silenceLabel', { name })}
            onClick={() => silence.mutate({ kind: rule.kind, until: silent ? null : Date.now() + HOUR_MS })}
          >
            {t(silent ? 'speak' : 'silence')}
          </Button>
        )}
        {isAdmin && (
          <Button
            size="compact-sm"
            variant="default"
            aria-label={t('editLabel', { name })}
            onClick={() => setEditing(true)}
          >
            {t('edit')}
          </Button>
        )}
        {isAdmin && (
          <Button
            size="compact-sm"
            variant="default"
            loading={save.isPending}
            aria-label={t(rule.enabled ? 'switchOffLabel' : 'switchOnLabel', { name })}
            onClick={() => save.mutate({ ...input, enabled: !rule.enabled })}
          >
            {t(rule.enabled ? 'switchOff' : 'switchOn')}
          </Button>
        )}
      </Group>
      <MutationError error={silence.error ?? save.error} />
      <RuleModal rule={rule} opened={editing} close={() => setEditing(false)} />
    </Stack>
  )
}
