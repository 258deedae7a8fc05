import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { inferRouterOutputs } from '@trpc/server'
import type { AppRouter } from '../../../../../server/api/root'
import { useTRPC, useTRPCClient } from '../../../../trpc'

type Page = inferRouterOutputs<AppRouter>['items']['list']
export type Item = Page['items'][number]
export type ItemCursor = NonNullable<Page['next']>

const PAGE = 50

/** A page of items: the server gives up after a moment with what it has; this asks on until the page is full. */
export function useItems({
  run,
  kind,
  search,
  cursor,
}: {
  run: number
  kind: string
  search: string
  cursor: ItemCursor | undefined
}) {
  const trpc = useTRPC()
  const client = useTRPCClient()
  return useQuery<Page, { message: string }>({
    queryKey: [...trpc.items.list.queryKey(), 'page', run, kind, search, cursor ?? null],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      let page: Page = { items: [], next: cursor ?? null }
      do {
        const more = await client.items.list.query(
          { run, kind, search, cursor: page.next, limit: PAGE - page.items.length },
          { signal },
        )
        page = { items: [...page.items, ...more.items], next: more.next }
      } while (page.next !== null && page.items.length < PAGE)
      return page
    },
  })
}
