'use client'

import { useQuery } from '@tanstack/react-query'
import { useTRPC } from '../trpc'

/**
 * Whether to offer what changes crawls: viewers see no button that would be refused. What protects is the check in each
 * procedure, not this.
 */
export function useMayChange(): boolean {
  const trpc = useTRPC()
  const { data: me } = useQuery(trpc.session.me.queryOptions())
  return me !== undefined && me.role !== 'viewer'
}

/** Whether to offer what only administrators may do; see above. */
export function useIsAdmin(): boolean {
  const trpc = useTRPC()
  const { data: me } = useQuery(trpc.session.me.queryOptions())
  return me?.role === 'admin'
}
