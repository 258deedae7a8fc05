import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import type { PageFilter } from '../../../../server/services/page-filter'
import type { PageCursor } from '../../../../server/services/page-list'
import { useTRPC, useTRPCClient } from '../../../trpc'

const PAGE = 50

/**
 * A page of the list. A search that takes long answers with what it has found so far, and `fetchNextPage` looks further from
 * there; once the page is full the pager goes on.
 */
export function usePages({
  id,
  filter,
  cursor,
  live,
}: {
  id: number
  filter: PageFilter
  cursor: PageCursor | undefined
  live: boolean
}) {
  const trpc = useTRPC()
  const client = useTRPCClient()
  return useInfiniteQuery({
    queryKey: [...trpc.runs.pages.queryKey(), 'list', id, filter, cursor ?? null],
    initialPageParam: { cursor: cursor ?? null, limit: PAGE, further: false },
    queryFn: ({ pageParam, signal }) => client.runs.pages.query({ id, filter, ...pageParam }, { signal }),
    getNextPageParam: (last, all) => {
      const many = all.reduce((sum, { pages }) => sum + pages.length, 0)
      return last.next && many < PAGE ? { cursor: last.next, limit: PAGE - many, further: true } : undefined
    },
    select: ({ pages: parts }) => ({
      pages: parts.flatMap(({ pages }) => pages),
      next: parts.at(-1)?.next ?? null,
      looked: parts.reduce((sum, { looked }) => sum + (looked ?? 0), 0),
      newestFirst: parts[0]?.newestFirst ?? true,
    }),
    placeholderData: keepPreviousData,
    // Only the newest page moves, and a search is not begun anew under the reader's eyes.
    refetchInterval: live && cursor === undefined && filter.url === undefined ? 2_000 : false,
  })
}
