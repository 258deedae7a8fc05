'use client'

import { useSearchParams } from 'next/navigation'
import { useState } from 'react'
import type { PageFilter } from '../../../../server/services/page-filter'

const STATES = ['done', 'failed', 'ignored'] as const

/** The filter of a run's pages. It stands in the address bar, so that what is looked at can be handed on. */
export function usePageFilter(): [PageFilter, (next: PageFilter) => void] {
  const params = useSearchParams()
  const [filter, setFilter] = useState(() => readFilter(params))
  return [
    filter,
    (next) => {
      setFilter(next)
      const query = filterQuery(next)
      window.history.replaceState(null, '', query === '' ? window.location.pathname : `?${query}`)
    },
  ]
}

/** What an address asks for; whatever can't be meant is left out. */
export function readFilter(params: Pick<URLSearchParams, 'get'>): PageFilter {
  const text = (name: string, most: number) => params.get(name)?.trim().slice(0, most) || undefined
  const number = (name: string, least: number, most: number) => {
    const value = params.get(name)
    return value !== null && /^\d+$/.test(value) && Number(value) >= least && Number(value) <= most
      ? Number(value)
      : undefined
  }
  return {
    state: STATES.find((state) => state === params.get('state')),
    host: text('host', 300),
    status: number('status', 1, 999),
    reason: text('reason', 40),
    depth: number('depth', 0, 1_000_000),
    url: text('url', 500),
  }
}

/** The filter as the query of an address. */
export function filterQuery(filter: PageFilter): string {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined)
  return new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
}
