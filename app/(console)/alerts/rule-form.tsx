'use client'

import {
  Button,
  Group,
  Modal,
  MultiSelect,
  NumberInput,
  SegmentedControl,
  Stack,
  Switch,
  Text,
} from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { inferRouterOutputs } from '@trpc/server'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import type { AppRouter } from '../../../server/api/root'
import { MutationError } from '../../query-state'
import { useTRPC } from '../../trpc'
import { useAlertWords } from './alert-words'

export type Rule = inferRouterOutputs<AppRouter>['alerts']['rules'][number]
type Field = number | string

export function RuleModal({ rule, opened, close }: { rule: Rule; opened: boolean; close: () => void }) {
  const t = useTranslations('ruleForm')
  const words = useAlertWords()
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={t('title', { name: words.rule(rule.kind) })}
      centered
      closeButtonProps={{ 'aria-label': t('cancel') }}
    >
      {opened && <RuleForm rule={rule} close={close} />}
    </Modal>
  )
}

/** From where on a rule fires, and whom it tells. */
function RuleForm({ rule, close }: { rule: Rule; close: () => void }) {
  const t = useTranslations('ruleForm')
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  const channels = useQuery(trpc.alerts.channels.queryOptions())
  // Shares are written as per cent, without the noise of binary fractions.
  const scale = rule.unit === 'ratio' ? 100 : 1
  const [threshold, setThreshold] = useState<Field>(Math.round(rule.threshold * scale * 1000) / 1000)
  const [windowMinutes, setWindow] = useState<Field>(rule.windowMinutes)
  const [holdMinutes, setHold] = useState<Field>(rule.holdMinutes)
  const [enabled, setEnabled] = useState(rule.enabled)
  const [only, setOnly] = useState<string[] | null>(rule.channels?.map(String) ?? null)
  const save = useMutation(
    trpc.alerts.saveRule.mutationOptions({
      onSuccess: async () => {
        await queryClient.invalidateQueries({ queryKey: trpc.alerts.pathKey() })
        close()
      },
    }),
  )
  const whole = ![threshold, windowMinutes, holdMinutes].includes('')
  const minutes = {
    allowDecimal: false,
    allowNegative: false,
    clampBehavior: 'blur' as const,
    suffix: ` ${t('minutes')}`,
  }
  const known = (channels.data ?? []).map(({ id, name }) => ({ value: String(id), label: name }))
  // Without those that were deleted meanwhile.
  const chosen = (only ?? []).filter((id) => known.some((one) => one.value === id))
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (!whole) return
        save.mutate({
          kind: rule.kind,
          enabled,
          threshold: Math.round(Number(threshold) * 1000) / 1000 / scale,
          windowMinutes: Number(windowMinutes),
          holdMinutes: Number(holdMinutes),
          channels: only === null ? null : chosen.map(Number),
        })
      }}
    >
      <Stack gap="sm">
        <Switch
          label={t('enabled')}
          checked={enabled}
          onChange={(event) => setEnabled(event.currentTarget.checked)}
        />
        <NumberInput
          label={t(rule.kind === 'success_rate' ? 'below' : 'reached')}
          value={threshold}
          onChange={setThreshold}
          allowNegative={false}
          min={0}
          max={rule.unit === 'ratio' ? 100 : 1e9}
          decimalScale={3}
          clampBehavior="blur"
          suffix={rule.unit === 'ratio' ? ' %' : rule.unit === 'minutes' ? ` ${t('minutes')}` : ''}
          data-autofocus
        />
        {rule.windowed && (
          <NumberInput
            {...minutes}
            label={t('window')}
            description={t('windowText')}
            value={windowMinutes}
            onChange={setWindow}
            min={1}
            max={10_080}
          />
        )}
        <NumberInput
          {...minutes}
          label={t('hold')}
          description={t('holdText')}
          value={holdMinutes}
          onChange={setHold}
          min={0}
          max={1440}
        />
        <Stack gap={4}>
          <Text size="sm" fw={500} id="rule-channels">
            {t('channels')}
          </Text>
          <SegmentedControl
            aria-labelledby="rule-channels"
            data={[
              { value: 'all', label: t('all') },
              { value: 'only', label: t('only') },
            ]}
            value={only ? 'only' : 'all'}
            onChange={(next) => setOnly(next === 'all' ? null : [])}
          />
          {only && (
            <MultiSelect
              aria-label={t('only')}
              data={known}
              value={chosen}
              onChange={setOnly}
              placeholder={chosen.length === 0 ? t('nobody') : undefined}
              nothingFoundMessage={t('noChannels')}
              clearButtonProps={{ 'aria-label': t('clear') }}
            />
          )}
        </Stack>
        <MutationError error={save.error} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={close}>
            {t('cancel')}
          </Button>
          <Button type="submit" disabled={!whole || !channels.data} loading={save.isPending}>
            {t('save')}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
