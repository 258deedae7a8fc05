'use client'

import { Alert, Button, Group, List, Stack, Tabs, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouter, useSearchParams } from 'next/navigation'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import type { Spider } from '../../../core/spider'
import { WarningIcon } from '../../icons'
import { MutationError } from '../../query-state'
import { useTRPC, useTRPCClient } from '../../trpc'
import { useMayChange } from '../may-change'
import { definitionOf, draftOf } from './draft'
import { Playground, type Trial } from './playground'
import { SpiderForm } from './spider-form'
import { SpiderText } from './spider-text'
import { SpiderVersions } from './spider-versions'

/** One can try a spider before one has a name for it. */
const NAMELESS = 'draft'

/** The spider as a form and as text, two views of one draft, which the server checks while it is typed. `id` 0: a new one. */
export function SpiderEditor({ spider }: { spider: { id: number; version: number; definition: Spider } }) {
  const t = useTranslations('spiderEditor')
  const trpc = useTRPC()
  const client = useTRPCClient()
  const router = useRouter()
  const queryClient = useQueryClient()
  const mayChange = useMayChange()
  const isNew = spider.id === 0
  const [draft, setDraft] = useState(() => draftOf(spider.definition))
  const [trial, setTrial] = useState<Trial>(() => ({
    url: spider.definition.seeds[0] ?? '',
    queue: null,
    asked: null,
  }))
  const tab = useSearchParams().get('tab')
  const definition = definitionOf(draft)
  const text = JSON.stringify(definition)
  const changed = text !== JSON.stringify(definitionOf(draftOf(spider.definition)))
  const [settled] = useDebouncedValue(text, 300)
  const checked = useQuery({
    queryKey: [...trpc.spiders.pathKey(), 'check', settled],
    queryFn: () => client.spiders.check.mutate({ definition: JSON.parse(settled) }),
    placeholderData: keepPreviousData,
    enabled: mayChange && changed,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const save = useMutation(
    trpc.spiders.save.mutationOptions({
      onSuccess: async ({ name }) => {
        await queryClient.invalidateQueries({ queryKey: trpc.spiders.pathKey() })
        if (isNew) router.push(`/spiders/${encodeURIComponent(name)}`)
      },
    }),
  )
  const faults = changed ? (checked.data?.faults ?? []) : []
  return (
    <Tabs defaultValue={mayChange && tab === 'playground' ? 'playground' : 'form'} keepMounted={false}>
      <Tabs.List mb="md">
        <Tabs.Tab value="form">{t('form')}</Tabs.Tab>
        <Tabs.Tab value="text">{t('text')}</Tabs.Tab>
        {mayChange && <Tabs.Tab value="playground">{t('playground')}</Tabs.Tab>}
        {!isNew && <Tabs.Tab value="versions">{t('versions')}</Tabs.Tab>}
      </Tabs.List>
      <Tabs.Panel value="form">
        <SpiderForm draft={draft} setDraft={setDraft} faults={faults} isNew={isNew} readOnly={!mayChange} />
      </Tabs.Panel>
      <Tabs.Panel value="text">
        <SpiderText
          definition={definition}
          readOnly={!mayChange}
          use={(used) => setDraft(draftOf(isNew ? used : { ...used, name: spider.definition.name }))}
        />
      </Tabs.Panel>
      {mayChange && (
        <Tabs.Panel value="playground">
          <Playground
            {...{ trial, setTrial, draft, setDraft }}
            faults={faults.filter((fault) => draft.name !== '' || !fault.startsWith('name '))}
            definition={isNew && draft.name === '' ? { ...definition, name: NAMELESS } : definition}
          />
        </Tabs.Panel>
      )}
      {!isNew && (
        <Tabs.Panel value="versions">
          <SpiderVersions spider={spider} />
        </Tabs.Panel>
      )}
      {mayChange && changed && (
        <Stack
          className="panel"
          p="md"
          gap="sm"
          mt="md"
          pos="sticky"
          bottom={8}
          style={{ zIndex: 5, boxShadow: 'var(--mantine-shadow-lg)' }}
        >
          {faults.length > 0 && (
            <Alert
              color="orange"
              variant="light"
              icon={<WarningIcon />}
              title={t('faults', { count: faults.length })}
            >
              <List size="sm" className="address" mah={160} style={{ overflowY: 'auto' }}>
                {faults.map((fault) => (
                  <List.Item key={fault}>{fault}</List.Item>
                ))}
              </List>
            </Alert>
          )}
          <MutationError error={save.error} />
          <Group justify="space-between" gap="xs">
            <Text size="sm" c="dimmed">
              {t(isNew ? 'unsavedNew' : 'unsaved')}
            </Text>
            <Group gap="xs">
              {!isNew && (
                <Button variant="default" onClick={() => setDraft(draftOf(spider.definition))}>
                  {t('discard')}
                </Button>
              )}
              <Button
                loading={save.isPending}
                disabled={faults.length > 0}
                onClick={() => save.mutate({ definition, from: spider.version })}
              >
                {t(isNew ? 'create' : 'save')}
              </Button>
            </Group>
          </Group>
        </Stack>
      )}
    </Tabs>
  )
}
