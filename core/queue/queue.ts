import type { Redis } from 'ioredis'
import type { Counts, State } from './states'
import type { Ack, AckReply, Dedupe, Held, Lease, NewTask, QueueSettings, Rejected } from './task'

/** What `claim` found. */
export interface Claimed {
  leases: Lease[]
  /** Present when the version the caller gave is not the current one. */
  settings?: QueueSettings & { version: number }
  /** Milliseconds until something can become claimable by time alone (host's turn, delayed retry); null when nothing waits. */
  waitMs: number | null
  /** Entries in the inbox. */
  inbox: number
  epoch: number
}

/** What `audit` found; `violations` is empty when all invariants hold. */
export interface QueueAudit {
  runs: Map<number, Counts>
  /** Each names the invariant (I1 …) and the numbers or the ref that break it. */
  violations: string[]
}

/**
 * One queue: an inbox (a Redis List anyone may push to) and the frontier behind it. One method a script; each is
 * atomic, safe to repeat, and takes its time from Redis. See `keys.ts` for the keys and `lua/` for the scripts.
 */
export class Queue {
  constructor(
    readonly redis: Redis,
    /** Inbox key, for instance `crawl_queue`. */
    readonly name: string,
  ) {}

  /** Stores the live settings; every claim from now on obeys them and hands them to its worker. */
  async configure(_settings: QueueSettings): Promise<void> {
    throw new Error('not built')
  }

  /** Raises the epoch (never lowers it). Claims then give tokens of the new epoch; older tokens are STALE. */
  async setEpoch(_epoch: number): Promise<void> {
    throw new Error('not built')
  }

  /** Makes the run known; repeats change nothing. `maxPages` caps the URLs admitted (null: no cap). */
  async openRun(_run: number, _options: { dedupe: Dedupe; maxPages: number | null }): Promise<void> {
    throw new Error('not built')
  }

  /** Admits up to 500 tasks. `refused` counts those over `maxPages`; a cancelled or unknown run refuses all. */
  async admit(
    _run: number,
    _tasks: NewTask[],
  ): Promise<{ admitted: number; duplicate: number; refused: number }> {
    throw new Error('not built')
  }

  async claim(_options: {
    max: number
    leaseMs: number
    hardMs: number
    settingsVersion: number
  }): Promise<Claimed> {
    throw new Error('not built')
  }

  /** Charges the delivery and starts the host's delay. Call it right before the fetch. */
  async begin(_held: Held[]): Promise<('OK' | 'STALE')[]> {
    throw new Error('not built')
  }

  /** Renews leases, never past the hard limit set at claim. Answers the refs that are lost. */
  async extend(_held: Held[], _leaseMs: number): Promise<string[]> {
    throw new Error('not built')
  }

  /** Admits links of pages that are still held, for pages with more than one call's worth; then `ack`. */
  async addLinks(_held: Held, _links: NewTask[]): Promise<'OK' | 'STALE'> {
    throw new Error('not built')
  }

  /** Ends tasks and admits their links, all in one script. */
  async ack(_acks: Ack[]): Promise<AckReply[]> {
    throw new Error('not built')
  }

  /** A passing failure: waits `delayMs`, then pending. Counts one attempt. */
  async retry(_held: Held, _delayMs: number): Promise<'OK' | 'DONE_ALREADY' | 'STALE'> {
    throw new Error('not built')
  }

  /** Hands tasks back at once, without charging a delivery (drain). */
  async release(_held: Held[]): Promise<('OK' | 'STALE')[]> {
    throw new Error('not built')
  }

  /** The host asks for patience (Retry-After, Crawl-delay): nothing more from it for `ms`, at least. */
  async hold(_host: string, _ms: number): Promise<void> {
    throw new Error('not built')
  }

  /** Sets a host's own minimum delay (robots Crawl-delay), in force beside the queue's; 0 removes it. */
  async setHostDelay(_host: string, _delayMs: number): Promise<void> {
    throw new Error('not built')
  }

  /** Takes up to `limit` lapsed leases back; those with `maxDeliveries` begun become dead letters. */
  async reap(
    _limit: number,
    _maxDeliveries: number,
  ): Promise<{ returned: number; dead: { run: number; id: string; url: string }[] }> {
    throw new Error('not built')
  }

  /** Puts dead letters back to pending with fresh budgets. Without refs: up to 500 of the run; repeat until 0. */
  async redrive(_run: number, _refs?: string[]): Promise<number> {
    throw new Error('not built')
  }

  /** Ends everything of the run that is not terminal; running pages' acks answer STALE. Repeat until `left` is 0. */
  async cancelRun(_run: number): Promise<{ cancelled: number; left: number }> {
    throw new Error('not built')
  }

  /** Cancels single URLs (ids) of a run. */
  async cancelUrls(_run: number, _ids: string[]): Promise<number> {
    throw new Error('not built')
  }

  /** Closes the run if nothing is open, atomically. True when it is closed (also when it was before). */
  async finish(_run: number): Promise<boolean> {
    throw new Error('not built')
  }

  /** Drops the keys of a finished run (its own seen set, counters). The record in MySQL stays. */
  async forget(_run: number): Promise<void> {
    throw new Error('not built')
  }

  async counts(_run: number): Promise<Counts> {
    throw new Error('not built')
  }

  /** The queue as a whole: each length a cardinality; `totals` count outcomes since the queue exists. */
  async lengths(): Promise<{
    inbox: number
    pending: number
    running: number
    retry: number
    failed: number
    rejected: number
    hosts: number
    paused: boolean
    epoch: number
    totals: { done: number; failed: number; ignored: number }
  }> {
    throw new Error('not built')
  }

  /** Tasks of a run in a state (not the terminal ones except `failed`), newest page by cursor. For the console. */
  async list(
    _run: number,
    _state: State,
    _cursor: string,
    _limit: number,
  ): Promise<{ tasks: (NewTask & { ref: string })[]; cursor: string }> {
    throw new Error('not built')
  }

  /** The first `limit` inbox entries, left where they are. */
  async peekInbox(_limit: number): Promise<string[]> {
    throw new Error('not built')
  }

  /**
   * Takes `entries`, which must still be the head of the inbox, and in the same script admits `tasks` and keeps `rejected`.
   * @returns false, with nothing changed, when the head is another by now.
   */
  async takeInbox(
    _entries: string[],
    _admit: { run: number; tasks: NewTask[] }[],
    _rejected: Rejected[],
  ): Promise<boolean> {
    throw new Error('not built')
  }

  /** Marks URLs as seen and terminal without queueing them: rebuilding a run from the record after an epoch change. */
  async restore(
    _run: number,
    _terminal: { id: string; state: 'done' | 'failed' | 'ignored'; url: string; host: string }[],
  ): Promise<void> {
    throw new Error('not built')
  }

  /** Checks I1–I4; `deep` reads every task. */
  async audit(_deep: boolean): Promise<QueueAudit> {
    throw new Error('not built')
  }

  /** Of `ids`, those that the run has not seen (for I7, coverage). */
  async unseen(_run: number, _ids: string[]): Promise<string[]> {
    throw new Error('not built')
  }
}
