import { QueryCache, QueryClient } from '@tanstack/react-query'

/** Faults that another try can't mend. */
const FINAL = ['BAD_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN', 'NOT_FOUND', 'TOO_MANY_REQUESTS']

/** The class of a refusal, as the client hears it or as it was thrown within the server. */
export const codeOf = (error: unknown) => {
  const { data, code } = (error ?? {}) as { data?: { code?: string } | null; code?: string }
  return data?.code ?? code
}

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
