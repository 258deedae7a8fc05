import { QueryCache, QueryClient } from '@tanstack/react-query'

/** What a tRPC error carries, as far as the console looks at it. */
interface Answered {
  data?: { code?: string } | null
}

/** Faults that another try can't mend. */
const FINAL = ['BAD_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN', 'NOT_FOUND', 'TOO_MANY_REQUESTS']

export const codeOf = (error: unknown) => (error as Answered | null)?.data?.code

export function createQueryClient(): QueryClient {
  return new QueryClient({
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
