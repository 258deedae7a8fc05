import type { ProxyRotation } from '../proxy-address'
import type { QuietHours } from '../quiet-hours'
import type { OutcomeState } from './states'

/** A URL to admit to a run's frontier. */
export interface NewTask {
  /** As it is fetched: what `webUrl` gave. */
  url: string
  /** Its identity within dedupe: `urlId` of the URL by the spider's rules, 22 characters. */
  id: string
  /** Politeness key: `hostKey(url)`, for instance `example.com` or `example.com:8080`. */
  host: string
  /** Links away from the nearest seed; a seed has 0. */
  depth: number
  /** −1000 … 1000; among hosts whose turn it is, and within one host, the highest goes first. */
  priority: number
  /** URL of the page that the link stood on; absent for a seed. */
  referrer?: string
  /** What the sender attached, as a JSON text; handed to the item unread. */
  meta?: string
}

/** A claimed URL: the worker owns it until the lease ends, if the token is still the one in Redis. */
export interface Lease extends NewTask {
  run: number
  /** `run` and `id` in one: the key of the URL within the queue. */
  ref: string
  /** Fencing token `epoch.seq`, zero-padded so that text order is age order. Only grows. */
  token: string
  /** Times it was begun before this claim; > 0 means that an earlier holder did not finish it. */
  deliveries: number
  /** Handled failures so far (the retry budget). */
  attempts: number
  /** Milliseconds of the worker's own monotonic clock (`performance.now()`) after which it must not commit. */
  expiresAt: number
}

export type Held = Pick<Lease, 'ref' | 'token'>

/** What a worker says of a finished URL. */
export interface Ack extends Held {
  state: OutcomeState
  /** Why, for the failed list; a word such as `http_403`. */
  reason?: string
  /** Milliseconds after which the host began to answer, where that says how much it can bear. */
  answerMs?: number
  /** Links of the page to admit to the same run, in the same script. At most 500 over all acks of one call. */
  links: NewTask[]
}

/** `STALE`: another token holds it or nobody does; nothing was changed. `DONE_ALREADY`: the same token had said so before. */
export type AckReply = 'OK' | 'DONE_ALREADY' | 'STALE'

/** Where a run remembers what it has seen. */
export type DedupeScope =
  | { scope: 'run' }
  /** Shared by runs of the same spider; forgets by whole days. */
  | { scope: 'days'; days: number; spider: number }
  | { scope: 'forever'; spider: number }

export type DedupeKind =
  | { kind: 'exact' }
  /** `capacity` URLs at `errorRate` (0.0001 … 0.01): a false "seen" skips a page with that probability. */
  | { kind: 'bloom'; capacity: number; errorRate: number }

export type Dedupe = DedupeScope & DedupeKind

/** The live settings of a queue; the record is in MySQL, this copy is what claims obey. */
export interface QueueSettings {
  /** Milliseconds between fetch starts on one host, over all workers; each is drawn within ±33 %. */
  delayMs: number
  /** Fetches at once on one host over all workers when `delayMs` is 0; with a delay it is 1. */
  perHost: number
  /** Fetches at once in each worker. */
  concurrency: number
  /** Fetches at once over all workers; null for no limit of its own. */
  maxRunning: number | null
  /** Claims give nothing while true. */
  paused: boolean
  /** The inbox is left alone; what is in the frontier is worked off. Absent in settings that an older version stored. */
  draining?: boolean
  /** Hosts that answer slowly, or that they are asked too much, are asked less often than `delayMs` says; absent: yes. */
  adaptive?: boolean
  /** When no page is begun, every day; absent or null: never. */
  quiet?: QuietHours | null
  /** Milliseconds between two fetch starts at one address, whatever hosts are there; absent or null: no such limit. */
  addressDelayMs?: number | null
  /** How its proxies are chosen, where it has some; absent: in turn. */
  proxies?: ProxyRotation
}

/** One malformed or unwanted inbox entry, as it is kept in `<inbox>:rejected` with the newest 10,000. */
export interface Rejected {
  entry: string
  reason: string
  /** ISO 8601, UTC. */
  at: string
}
