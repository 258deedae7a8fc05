'use client'

import { Alert, Button, Group, Loader, NativeSelect, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import type { TryoutAnswer, TryoutPage, TryoutReading } from '../../../core/tryout'
import { useFigures } from '../../figures'
import { PlayIcon, WarningIcon } from '../../icons'
import { Panel } from '../../pairs'
import { MutationError } from '../../query-state'
import { useTRPC, useTRPCClient } from '../../trpc'
import type { Draft } from './draft'
import { ItemRules } from './item-rules'
import { TryoutFacts } from './tryout-facts'
import { TryoutItems, TryoutLinks } from './tryout-found'

/** What the playground remembers while one looks at other tabs. */
export interface Trial {
  url: string
  queue: string | null
  /** What a worker was last asked for; `text`: the spider as it was then. */
  asked: { id: string; queue: string; text: string } | null
}

const LOOK_MS = 300
/** From the last key to the items of the changed spider: this, and what a worker takes. */
const SETTLE_MS = 250

/** A URL as a worker fetches it by the spider as it stands in the form, and what is taken of it, anew with every change. */
export function Playground({
  trial,
  setTrial,
  draft,
  setDraft,
  definition,
  faults,
}: {
  trial: Trial
  setTrial: (trial: Trial) => void
  draft: Draft
  setDraft: (draft: Draft) => void
  definition: Record<string, unknown>
  faults: string[]
}) {
  const t = useTranslations('playground')
  const trpc = useTRPC()
  const queues = useQuery(trpc.queues.list.queryOptions())
  const names = (queues.data ?? []).map(({ name }) => name)
  const queue = trial.queue ?? names[0] ?? ''
  const text = JSON.stringify(definition)
  const ask = useMutation(
    trpc.tryouts.ask.mutationOptions({
      onSuccess: ({ id }, asked) =>
        setTrial({ ...trial, asked: { id, queue: asked.queue, text: JSON.stringify(asked.definition) } }),
    }),
  )
  return (
    <Stack gap="md">
      <form
        className="panel"
        style={{ padding: 'var(--mantine-spacing-md)' }}
        onSubmit={(event) => {
          event.preventDefault()
          ask.mutate({ queue, url: trial.url.trim(), definition })
        }}
      >
        <Stack gap="sm">
          <Group align="flex-end" gap="sm">
            <TextInput
              flex={1}
              miw={220}
              label={t('url')}
              description={t('urlText')}
              placeholder="https://example.com/"
              value={trial.url}
              onChange={(event) => setTrial({ ...trial, url: event.currentTarget.value })}
              inputMode="url"
              spellCheck={false}
              required
              withAsterisk={false}
            />
            {names.length > 1 && (
              <NativeSelect
                label={t('queue')}
                value={queue}
                data={names}
                onChange={(event) => setTrial({ ...trial, queue: event.currentTarget.value })}
              />
            )}
            <Button
              type="submit"
              loading={ask.isPending}
              disabled={faults.length > 0 || queue === ''}
              leftSection={<PlayIcon />}
            >
              {t('fetch')}
            </Button>
          </Group>
          {faults.length > 0 && (
            <Text size="sm" c="dimmed">
              {t('faults')}
            </Text>
          )}
          <MutationError error={ask.error} />
        </Stack>
      </form>
      {trial.asked && (
        <Found
          key={trial.asked.id}
          asked={trial.asked}
          text={text}
          right={faults.length === 0}
          rules={
            <ItemRules
              items={draft.items}
              setItems={(items) => setDraft({ ...draft, items })}
              fault={(place) => faults.find((one) => one.startsWith(place))}
            />
          }
        />
      )}
    </Stack>
  )
}

function Found({
  asked,
  text,
  right,
  rules,
}: {
  asked: NonNullable<Trial['asked']>
  text: string
  right: boolean
  rules: React.ReactNode
}) {
  const t = useTranslations('playground')
  const trpc = useTRPC()
  const { id, queue } = asked
  const query = useQuery({
    ...trpc.tryouts.get.queryOptions({ queue, id }),
    refetchInterval: ({ state }) =>
      state.data?.state === 'waiting' || state.data?.state === 'running' ? LOOK_MS : false,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  })
  const { data } = query
  if (query.error) return <MutationError error={query.error} />
  if (!data || data.state === 'waiting' || data.state === 'running')
    return (
      <Group gap="sm" role="status" className="panel" p="md">
        <Loader size="xs" />
        <Text size="sm">{t(data?.state === 'running' ? 'running' : 'waiting')}</Text>
      </Group>
    )
  if (data.state !== 'done') return <Trouble>{t(data.state)}</Trouble>
  const { answer } = data
  return answer.kind === 'page' ? (
    <Page page={answer.page} asked={asked} text={text} right={right} rules={rules} />
  ) : (
    <NoPage answer={answer} />
  )
}

function Trouble({ children }: { children: React.ReactNode }) {
  return (
    <Alert color="orange" variant="light" icon={<WarningIcon />} role="alert">
      {children}
    </Alert>
  )
}

function NoPage({ answer }: { answer: Exclude<TryoutAnswer, { kind: 'page' }> }) {
  const t = useTranslations('playground')
  const figures = useFigures()
  switch (answer.kind) {
    case 'busy':
      return <Trouble>{t('busy', { host: answer.host, wait: figures.duration(answer.waitMs) })}</Trouble>
    case 'timeout':
      return <Trouble>{t('timeout', { time: figures.duration(answer.ms) })}</Trouble>
    case 'gone':
      return <Trouble>{t('unknown')}</Trouble>
    default:
      return <Trouble>{t('ownFault')}</Trouble>
  }
}

function Page({
  page,
  asked,
  text,
  right,
  rules,
}: {
  page: TryoutPage
  asked: NonNullable<Trial['asked']>
  text: string
  right: boolean
  rules: React.ReactNode
}) {
  const t = useTranslations('playground')
  const trpc = useTRPC()
  const client = useTRPCClient()
  const { id, queue } = asked
  const [settled] = useDebouncedValue(text, SETTLE_MS)
  const other = settled !== asked.text
  const again = useQuery({
    queryKey: [...trpc.tryouts.pathKey(), 'read', id, settled],
    queryFn: () => client.tryouts.read.mutate({ queue, id, definition: JSON.parse(settled) }),
    enabled: other && right && page.reading !== null && page.kept > 0,
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  const read = other && again.data?.state === 'done' ? again.data.answer : null
  const reading: TryoutReading | null = read?.kind === 'reading' ? read.reading : page.reading
  const trouble = other && again.data && read?.kind !== 'reading'
  return (
    <Stack gap="md">
      <TryoutFacts page={page} />
      {page.reading && <Panel title={t('rules')}>{rules}</Panel>}
      <MutationError error={again.error} />
      {trouble && <Trouble>{t('notRead')}</Trouble>}
      <SimpleGrid cols={{ base: 1, lg: page.kept > 0 ? 2 : 1 }} spacing="md" style={{ alignItems: 'start' }}>
        {page.kept > 0 && (
          <Panel title={t('page')}>
            <iframe
              title={t('pageFrame')}
              src={`/api/tryouts/${id}/content?queue=${encodeURIComponent(queue)}`}
              sandbox=""
              referrerPolicy="no-referrer"
              style={{ width: '100%', height: 420, border: '1px solid var(--line)', background: '#fff' }}
            />
            <Text size="xs" c="dimmed">
              {t('pageText')}
            </Text>
          </Panel>
        )}
        {reading && <TryoutItems reading={reading} />}
      </SimpleGrid>
      {reading && <TryoutLinks reading={reading} />}
    </Stack>
  )
}
