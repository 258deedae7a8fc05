'use client'

import {
  Alert,
  Button,
  FileButton,
  Group,
  SegmentedControl,
  Skeleton,
  Stack,
  Text,
  Textarea,
} from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import { useRef, useState } from 'react'
import type { Spider } from '../../../core/spider'
import { MutationError } from '../../query-state'
import { useTRPCClient } from '../../trpc'

type Format = 'json' | 'yaml'
/** Of a file that is opened; a request may not be longer. */
const LARGEST_BYTES = 1_000_000

/** The spider as JSON or YAML: to read, to download, to paste or open another one in its place. */
export function SpiderText({
  definition,
  readOnly,
  use,
}: {
  definition: Record<string, unknown>
  readOnly: boolean
  use: (spider: Spider) => void
}) {
  const t = useTranslations('spiderText')
  const client = useTRPCClient()
  const forgetFile = useRef<() => void>(null)
  const [format, setFormat] = useState<Format>('json')
  /** What was typed; null: the text of the definition. */
  const [typed, setTyped] = useState<string | null>(null)
  // Only here, and not small: it comes when this is looked at.
  const { data: yaml } = useQuery({
    queryKey: ['yaml'],
    queryFn: () => import('yaml'),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
    structuralSharing: false,
  })
  const take = useMutation({
    mutationFn: async (text: string) => {
      // JSON is YAML too.
      const read: unknown = yaml!.parse(text)
      if (typeof read !== 'object' || read === null || Array.isArray(read)) throw new Error(t('noObject'))
      const { faults, definition } = await client.spiders.check.mutate({
        definition: read as Record<string, unknown>,
      })
      if (!definition) throw new Error(faults.join('\n'))
      return definition
    },
    onSuccess: (spider) => {
      use(spider)
      setTyped(null)
    },
  })
  const openFile = async (file: File | null) => {
    if (!file) return
    setTyped(await file.slice(0, LARGEST_BYTES).text())
    take.reset()
    // Otherwise the same file, corrected meanwhile, could not be opened again.
    forgetFile.current?.()
  }
  if (!yaml) return <Skeleton height={400} />
  const written = format === 'json' ? `${JSON.stringify(definition, null, 2)}\n` : yaml.stringify(definition)
  return (
    <Stack className="panel" p="md" gap="sm">
      <Group justify="space-between" gap="xs">
        <SegmentedControl
          size="xs"
          aria-label={t('format')}
          value={format}
          onChange={(value) => {
            setFormat(value as Format)
            setTyped(null)
          }}
          data={[
            { value: 'json', label: 'JSON' },
            { value: 'yaml', label: 'YAML' },
          ]}
        />
        <Group gap="xs">
          {!readOnly && (
            <FileButton resetRef={forgetFile} accept=".json,.yaml,.yml" onChange={openFile}>
              {(props) => (
                <Button {...props} size="xs" variant="default">
                  {t('open')}
                </Button>
              )}
            </FileButton>
          )}
          <Button
            size="xs"
            variant="default"
            component="a"
            href={`data:text/plain;charset=utf-8,${encodeURIComponent(written)}`}
            download={`${String(definition.name) || 'spider'}.${format}`}
          >
            {t('download')}
          </Button>
        </Group>
      </Group>
      <Textarea
        aria-label={t('label')}
        value={typed ?? written}
        onChange={(event) => setTyped(event.currentTarget.value)}
        readOnly={readOnly}
        autosize
        minRows={12}
        maxRows={36}
        spellCheck={false}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 13 } }}
      />
      <MutationError error={take.error} />
      {typed !== null && (
        <Alert color="indigo" variant="light" py="xs">
          <Group justify="space-between" gap="xs">
            <Text size="sm">{t('changed')}</Text>
            <Group gap="xs">
              <Button size="xs" variant="default" onClick={() => setTyped(null)}>
                {t('discard')}
              </Button>
              <Button size="xs" loading={take.isPending} onClick={() => take.mutate(typed)}>
                {t('use')}
              </Button>
            </Group>
          </Group>
        </Alert>
      )}
    </Stack>
  )
}
