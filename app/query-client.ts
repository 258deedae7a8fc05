import {
  type InvalidateOptions,
  type InvalidateQueryFilters,
  QueryCache,
  QueryClient,
  type QueryKey,
} from '@tanstack/react-query'

/** Faults that another try can't mend. */
const FINAL = ['BAD_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN', 'NOT_FOUND', 'TOO_MANY_REQUESTS']

/** The class of a refusal, as the client hears it or as it was thrown within the server. */
export const codeOf = (error: unknown) => {
  const { data, code } = (error ?? {}) as { data?: { code?: string } | null; code?: string }
  return data?.code ?? code
}

export function createQueryClient(): QueryClient {
  return new ReadAnew({
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        retry: (failures, error) => failures < 2 && !FINAL.includes(codeOf(error) ?? ''),
      },
    },
    queryCache: new QueryCache({
      onError: (error) => {
        // The session ended meanwhile: what is on the screen must not stay there.
        if (typeof window !== 'undefined' && codeOf(error) === 'UNAUTHORIZED')
          window.location.assign('/sign-in')
      },
    }),
  })
}

/**
 * What is read anew must be read after the change. The library asks again for what it has an answer of, and takes the
 * first answer that is still under way for new, though it may be from before; so that is given up.
 */
class ReadAnew extends QueryClient {
  override async invalidateQueries<Key extends QueryKey = QueryKey>(
    filters?: InvalidateQueryFilters<Key>,
    options?: InvalidateOptions,
  ): Promise<void> {
    for (const query of this.getQueryCache().findAll(filters))
      if (query.state.data === undefined && query.state.fetchStatus !== 'idle')
        await query.cancel({ revert: true })
    return super.invalidateQueries(filters, options)
  }
}
