'use client'

import { SimpleGrid, Stack, Title } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import { KeysetPager, useKeyset } from '../../keyset-pager'
import { EmptyList } from '../../list-frame'
import { QueryState } from '../../query-state'
import { useTRPC } from '../../trpc'
import { RequestsTable } from './requests-table'
import { ScaleCard } from './scale-card'

const OPEN = ['waiting', 'running']

/** How many workers each queue has and should have; every wish, and what the scaler made of it. */
export function Scaling() {
  const t = useTranslations('scaling')
  const trpc = useTRPC()
  const keyset = useKeyset<number>()
  const queues = useQuery({ ...trpc.queues.list.queryOptions(), refetchInterval: 5_000 })
  const limits = useQuery({ ...trpc.scale.limits.queryOptions(), refetchInterval: 5_000 })
  const requests = useQuery({
    ...trpc.scale.list.queryOptions({ limit: 10, ...(keyset.cursor && { cursor: keyset.cursor }) }),
    placeholderData: keepPreviousData,
    // Followed by the second while something is under way.
    refetchInterval: ({ state }) =>
      state.data?.requests.some((one) => OPEN.includes(one.state)) ? 1_000 : 5_000,
  })
  return (
    <section aria-labelledby="scaling-title">
      <Title order={2} size="h5" id="scaling-title" mb="sm">
        {t('title')}
      </Title>
      <Stack gap="sm">
        <QueryState query={queues}>
          {(list) =>
            list.length === 0 ? (
              <EmptyList>{t('noQueue')}</EmptyList>
            ) : (
              <QueryState query={limits}>
                {(all) => (
                  <SimpleGrid cols={{ base: 1, md: 2, lg: 3 }} spacing="sm">
                    {list.flatMap((queue) => {
                      // One that was made since comes with the next look.
                      const own = all.find((one) => one.queue === queue.name)
                      return own ? [<ScaleCard key={queue.name} queue={queue} limits={own} />] : []
                    })}
                  </SimpleGrid>
                )}
              </QueryState>
            )
          }
        </QueryState>
        <QueryState query={requests}>
          {({ requests, next }) =>
            requests.length === 0 ? null : (
              <Stack gap="sm">
                <Title order={3} size="h6">
                  {t('requests')}
                </Title>
                <RequestsTable requests={requests} />
                <KeysetPager keyset={keyset} next={next} />
              </Stack>
            )
          }
        </QueryState>
      </Stack>
    </section>
  )
}
