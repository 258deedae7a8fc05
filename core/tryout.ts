import type { Spider } from './spider'

/** One URL fetched, or what was fetched read again, as a spider would have it; for the person who works on the spider. */
export type TryoutRequest =
  /** `spider`: whose credentials it signs in with; absent for one that is not saved yet. */
  | { kind: 'fetch'; url: string; definition: Spider; spider?: number }
  /** `of`: the trial whose page is read. */
  | { kind: 'read'; of: string; definition: Spider }

export interface TryoutRobots {
  /** Null: robots.txt could not be had, so nothing is known. */
  allowed: boolean | null
  /** Why not: a reason of `worker/outcome.ts`. */
  reason?: string
  /** The line that decides; null when none speaks of the URL. */
  line: { number: number; text: string } | null
  crawlDelayMs: number | null
  /** Whether the spider obeys it. */
  obeyed: boolean
}

/** Milliseconds; null for what was not reached. */
export interface TryoutTimes {
  /** Until it was the host's turn. */
  waited: number
  dns: number | null
  connect: number | null
  tls: number | null
  /** From the connection to the headers of the last answer, redirects included. */
  firstByte: number | null
  body: number | null
  total: number
}

/** Why a link is not followed, or would be and not fetched (`robots`, `trap`). */
export const LINK_VERDICTS = [
  'followed',
  'depth',
  'scope',
  'allow',
  'deny',
  'nofollow',
  'nofollowPage',
  'robots',
  'trap',
] as const
export type LinkVerdict = (typeof LINK_VERDICTS)[number]

/** What a spider takes from a page. */
export interface TryoutReading {
  title: string | null
  /** The first ones, long values shortened; `itemCount` has them all. */
  items: { name: string; data: Record<string, unknown> }[]
  itemCount: number
  /** Left out because a required field had no value. */
  incomplete: number
  /** The first ones, in the page's order; `linkCounts` has them all. */
  links: { url: string; verdict: LinkVerdict }[]
  linkCounts: Partial<Record<LinkVerdict, number>>
  /** As they are stored with a page (`worker/read-document.ts`). */
  flags: string[]
  /** The page held more than is taken. */
  cut: boolean
  /** Why the spider's code took nothing of it; null when it has none or all went well. */
  codeFault: string | null
  ms: number
}

export interface TryoutPage {
  url: string
  finalUrl: string | null
  /** Gone through before `finalUrl`; without status when that was never reached. */
  hops: { url: string; status: number | null }[]
  status: number | null
  /** Lower-case names. */
  headers: Record<string, string>
  contentType: string | null
  /** What a run would record. */
  outcome: { state: string; reason: string | null; detail: string | null }
  robots: TryoutRobots
  times: TryoutTimes
  charset: { name: string; source: 'bom' | 'header' | 'page' | 'bytes' } | null
  bytes: number | null
  wireBytes: number | null
  truncated: 'cap' | 'cut' | null
  /** Bytes of the body that are kept to be shown and read again; 0 for none. */
  kept: number
  reading: TryoutReading | null
  /** Who fetched it. */
  worker: string
}

export type TryoutAnswer =
  | { kind: 'page'; page: TryoutPage }
  | { kind: 'reading'; reading: TryoutReading }
  /** The host's turn would come in so many ms only. */
  | { kind: 'busy'; host: string; waitMs: number }
  /** The page that was to be read is no longer kept. */
  | { kind: 'gone' }
  /** It took longer than a trial may. */
  | { kind: 'timeout'; ms: number }
  /** A fault of ours, which the worker's log has. */
  | { kind: 'fault' }
