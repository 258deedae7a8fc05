'use client'

import { useDocumentVisibility } from '@mantine/hooks'
import { useSubscription } from '@trpc/tanstack-react-query'
import { createContext, type ReactNode, useContext, useEffect, useEffectEvent, useRef, useState } from 'react'
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

/** Share of successes below which something is wrong. */
export const HEALTHY = 0.95

const POINT_MS = 5_000
const POINTS = 720
/** Silence after which the data is no longer called live. */
const SILENT_MS = 4_500
/** Between two attempts to get it back. */
const RETRY_MS = 3_000

/**
 * One subscription for all components below. It rests while the page is hidden: browsers allow few connections to one
 * server, and a forgotten tab should cost nothing. Coming back, and after a silence, it resumes where it stopped; the
 * browser's own reconnecting is not enough, for it ends for good when a server says goodbye on its way down.
 */
export function LiveProvider({ children }: { children: ReactNode }) {
  const trpc = useTRPC()
  const visible = useDocumentVisibility() === 'visible'
  const [data, setData] = useState<LiveData>(EMPTY)
  const [after, setAfter] = useState<number | undefined>()
  const heardAt = useRef(0)

  const { reset } = useSubscription(
    trpc.live.overview.subscriptionOptions(
      { lastEventId: after === undefined ? null : String(after) },
      {
        enabled: visible,
        onData: ({ data: overview }) => {
          heardAt.current = Date.now()
          setData(({ series }) => ({ latest: overview, series: extend(series, overview), pausedSince: null }))
        },
      },
    ),
  )

  const resume = useEffectEvent(() => {
    if (data.latest && data.latest.at !== after) setAfter(data.latest.at)
    else reset()
  })

  useEffect(() => {
    if (!visible) return resume()
    // A page that becomes visible again gets the same grace as one that just loaded.
    const shownAt = Date.now()
    let triedAt = shownAt
    const timer = setInterval(() => {
      const now = Date.now()
      const last = Math.max(heardAt.current, shownAt)
      const silent = now - last > SILENT_MS
      setData((before) =>
        silent === (before.pausedSince !== null) ? before : { ...before, pausedSince: silent ? last : null },
      )
      if (silent && now - triedAt > RETRY_MS) {
        triedAt = now
        resume()
      }
    }, 500)
    return () => clearInterval(timer)
  }, [visible])

  return <Live value={data}>{children}</Live>
}

/** Adds a look to the series; within the same five seconds the newer replaces the older. */
function extend(series: LivePoint[], { at, backlog, running, pagesPerSecond }: Overview): LivePoint[] {
  const last = series.at(-1)
  const same = last && Math.floor(last.at / POINT_MS) === Math.floor(at / POINT_MS)
  return [...(same ? series.slice(0, -1) : series).slice(-POINTS), { at, backlog, running, pagesPerSecond }]
}
