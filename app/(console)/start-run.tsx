'use client'

import { Alert, Box, Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import { PlayIcon } from '../icons'
import { Link } from '../link'
import { MutationError } from '../query-state'
import { useTRPC } from '../trpc'

/** One address is enough: the default spider follows the links of its host. */
export function StartRun() {
  const t = useTranslations('start')
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  const [url, setUrl] = useState('')
  const start = useMutation(
    trpc.runs.start.mutationOptions({
      onSuccess: () => {
        setUrl('')
        return queryClient.invalidateQueries({ queryKey: trpc.runs.pathKey() })
      },
    }),
  )
  return (
    <Box className="panel" p="md">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (url.trim()) start.mutate({ url: withScheme(url.trim()) })
        }}
      >
        <Stack gap="sm">
          <Group align="flex-end" gap="sm">
            <TextInput
              flex={1}
              miw={220}
              label={t('label')}
              description={t('description')}
              placeholder="https://example.com/"
              value={url}
              onChange={(event) => setUrl(event.currentTarget.value)}
              inputMode="url"
              autoComplete="url"
              spellCheck={false}
              required
              withAsterisk={false}
            />
            <Button type="submit" loading={start.isPending} leftSection={<PlayIcon />}>
              {t('submit')}
            </Button>
          </Group>
          <MutationError error={start.error} />
          {start.data && (
            <Alert color="teal" variant="light" role="status" py="xs">
              <Text size="sm">
                {t.rich('started', {
                  id: start.data.id,
                  link: (words) => <Link href={`/runs/${start.data.id}`}>{words}</Link>,
                })}
              </Text>
            </Alert>
          )}
        </Stack>
      </form>
    </Box>
  )
}

/** People type `example.com`; a scheme that is there is never changed. */
function withScheme(url: string): string {
  return /^[a-z][a-z0-9+.-]*:/i.test(url) && !/^[^/]*:\d+(\/|$)/.test(url) ? url : `https://${url}`
}
