'use client'

import { useDocumentVisibility } from '@mantine/hooks'
import { useSubscription } from '@trpc/tanstack-react-query'
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react'
import type { Overview } from '../server/api/overview'
import { useTRPC } from './trpc'

export interface LivePoint {
  at: number
  backlog: number
  running: number
  pagesPerSecond: number | null
}

interface LiveData {
  latest: Overview | null
  /** Of this hour at most, one for five seconds: what a chart needs, at a size that stays the same all day. */
  series: LivePoint[]
  /** When the last look arrived, by this machine's clock (ms), while nothing newer comes; null while live. */
  pausedSince: number | null
}

const EMPTY: LiveData = { latest: null, series: [], pausedSince: null }
const Live = createContext<LiveData>(EMPTY)

/** The newest overview and its recent course; renders again once a second. */
export const useLive = () => useContext(Live)

const POINT_MS = 5_000
const POINTS = 720
/** Silence after which the data is no longer called live. */
const SILENT_MS = 4_500

/**
 * One subscription for all components below. It rests while the page is hidden: browsers allow few connections to one
 * server, and a forgotten tab should cost nothing. Coming back it resumes where it stopped.
 */
export function LiveProvider({ children }: { children: ReactNode }) {
  const trpc = useTRPC()
  const visible = useDocumentVisibility() === 'visible'
  const [data, setData] = useState<LiveData>(EMPTY)
  const [heardAt, setHeardAt] = useState(0)
  const [since, setSince] = useState<number | undefined>()

  useSubscription(
    trpc.live.overview.subscriptionOptions(
      { lastEventId: since === undefined ? null : String(since) },
      {
        enabled: visible,
        onData: ({ data: overview }) => {
          setHeardAt(Date.now())
          setData(({ series }) => ({ latest: overview, series: extend(series, overview), pausedSince: null }))
        },
      },
    ),
  )

  useEffect(() => {
    if (!visible) return
    // A page that becomes visible again gets the same grace as one that just loaded.
    const shownAt = Date.now()
    const timer = setInterval(() => {
      const last = Math.max(heardAt, shownAt)
      const silent = Date.now() - last > SILENT_MS
      setData((before) =>
        silent === (before.pausedSince !== null) ? before : { ...before, pausedSince: silent ? last : null },
      )
    }, 500)
    return () => clearInterval(timer)
  }, [visible, heardAt])

  useEffect(() => {
    if (!visible && data.latest) setSince(data.latest.at)
  }, [visible, data.latest])

  return <Live value={data}>{children}</Live>
}

/** Adds a look to the series; within the same five seconds the newer replaces the older. */
function extend(series: LivePoint[], { at, backlog, running, pagesPerSecond }: Overview): LivePoint[] {
  const last = series.at(-1)
  const same = last && Math.floor(last.at / POINT_MS) === Math.floor(at / POINT_MS)
  return [...(same ? series.slice(0, -1) : series).slice(-POINTS), { at, backlog, running, pagesPerSecond }]
}
