'use client'

import { Button, Group, NumberInput, Stack, Text, TextInput, Title } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import { QueryState } from '../../../query-state'
import { useTRPC } from '../../../trpc'
import { WhyAnswer } from './why-answer'

export interface Asked {
  url: string
  run: number | ''
}

/** Ends the search of a support thread: which limit keeps this URL, who holds it, until when. */
export function WhyForm({ name, asked: first }: { name: string; asked: Asked }) {
  const t = useTranslations('why')
  const trpc = useTRPC()
  const [url, setUrl] = useState(first.url)
  const [run, setRun] = useState<number | string>(first.run)
  const [asked, setAsked] = useState(first)
  const query = useQuery({
    ...trpc.queues.why.queryOptions({ name, url: asked.url, ...(asked.run !== '' && { run: asked.run }) }),
    enabled: asked.url !== '',
    placeholderData: keepPreviousData,
    refetchInterval: 2_000,
  })
  return (
    <Stack className="panel" p="md" gap="sm" component="section" aria-labelledby="why-title">
      <div>
        <Title order={2} size="h5" id="why-title">
          {t('title')}
        </Title>
        <Text size="sm" c="dimmed">
          {t('text')}
        </Text>
      </div>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          setAsked({ url: url.trim(), run: run === '' ? '' : Number(run) })
        }}
      >
        <Group align="flex-end" gap="sm">
          <TextInput
            flex={1}
            miw={200}
            label={t('url')}
            placeholder="https://example.com/"
            value={url}
            onChange={(event) => setUrl(event.currentTarget.value)}
            inputMode="url"
            spellCheck={false}
            autoComplete="off"
            required
            withAsterisk={false}
          />
          <NumberInput
            w={110}
            label={t('run')}
            placeholder={t('newest')}
            value={run}
            onChange={setRun}
            min={1}
            allowDecimal={false}
            allowNegative={false}
            hideControls
          />
          <Button type="submit" variant="default" loading={query.isFetching && !query.data}>
            {t('ask')}
          </Button>
        </Group>
      </form>
      {asked.url !== '' && <QueryState query={query}>{(why) => <WhyAnswer why={why} />}</QueryState>}
    </Stack>
  )
}
