'use client'

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTRPC } from '../../trpc'

/** Asks for a number of workers; lists of requests show it at once. */
export function useScale() {
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  return useMutation(
    trpc.scale.request.mutationOptions({
      onSuccess: () => queryClient.invalidateQueries({ queryKey: trpc.scale.pathKey() }),
    }),
  )
}
