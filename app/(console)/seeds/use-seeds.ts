import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { inferRouterOutputs } from '@trpc/server'
import { useState } from 'react'
import type { AppRouter } from '../../../server/api/root'
import { useTRPC, useTRPCClient } from '../../trpc'

type Page = inferRouterOutputs<AppRouter>['seeds']['list']
export type Seed = Page['seeds'][number]

const PAGE = 50

/**
 * A page of seeds. The server gives up a search after a moment with what it has; this asks on until the page is full or
 * everything was looked at, and tells how far it is.
 */
export function useSeeds({
  spider,
  search,
  cursor,
}: {
  spider: number
  search: string
  cursor: number | undefined
}) {
  const trpc = useTRPC()
  const client = useTRPCClient()
  const [looked, setLooked] = useState(0)
  const query = useQuery<Page, { message: string }>({
    queryKey: [...trpc.seeds.list.queryKey(), 'page', spider, search, cursor ?? null],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      let page: Page = { seeds: [], next: cursor ?? null, looked: 0 }
      do {
        const more = await client.seeds.list.query(
          { spider, search, cursor: page.next, limit: PAGE - page.seeds.length },
          { signal },
        )
        page = { seeds: [...page.seeds, ...more.seeds], next: more.next, looked: page.looked + more.looked }
        setLooked(page.looked)
      } while (page.next !== null && page.seeds.length < PAGE)
      return page
    },
  })
  return { query, looked }
}
