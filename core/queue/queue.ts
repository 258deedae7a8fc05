import type { Redis } from 'ioredis'
import { auditQueue, type QueueAudit } from './audit'
import * as keys from './keys'
import { type QueueLengths, readLengths } from './lengths'
import { listTasks } from './list'
import { classed, runScript, type ScriptName } from './script'
import { dedupeText, type Seen, seenArguments, seenOf } from './seen'
import { type Counts, type OutcomeState, STATES, type State } from './states'
import type { Ack, AckReply, Dedupe, Held, Lease, NewTask, QueueSettings, Rejected } from './task'
import { ADMITTED_AT_ONCE, bounded, MAX_MEMBERS, readLeases, slices, splitRef, taskArguments } from './wire'

/** What `claim` found. */
export interface Claimed {
  leases: Lease[]
  /** Present when the version the caller gave is not the current one. */
  settings?: QueueSettings & { version: number }
  /** Milliseconds until something can become claimable by time alone (host's turn, delayed retry); null when nothing waits. */
  waitMs: number | null
  /** Entries in the inbox; −1 while it is left alone because the queue is draining. */
  inbox: number
  epoch: number
}

export type { QueueAudit }

/** A run is not open (any more), so nothing can be admitted to it; nothing was changed. */
export class RunClosed extends Error {
  override name = 'RunClosed'
}

/** Runs whose dedupe keys are remembered; they never change while Redis keeps the run. */
const REMEMBERED_RUNS = 1000

/**
 * One queue: an inbox (a Redis List anyone may push to) and the frontier behind it. One method a script; each is
 * atomic, safe to repeat, and takes its time from Redis. See `keys.ts` for the keys and `lua/` for the scripts.
 *
 * Every method throws `Unavailable` when Redis is full or does not answer: what was asked is then done as a whole or not
 * at all, and asking again is safe.
 */
export class Queue {
  private readonly frontier: string[]
  private readonly seen = new Map<number, Seen>()
  private peeked: { text: string; raw: Buffer }[] = []

  constructor(
    readonly redis: Redis,
    /** Inbox key, for instance `crawl_queue`. */
    readonly name: string,
  ) {
    this.frontier = keys.frontierKeys(name)
  }

  /** Stores the live settings; every claim from now on obeys them and hands them to its worker. */
  async configure(settings: QueueSettings): Promise<void> {
    const {
      delayMs,
      perHost,
      concurrency,
      maxRunning,
      paused,
      draining = false,
      adaptive = true,
      quiet = null,
      proxies = 'turn',
      addressDelayMs = null,
    } = settings
    const text = JSON.stringify({
      ...{
        delayMs,
        perHost,
        concurrency,
        maxRunning,
        paused,
        draining,
        adaptive,
        quiet,
        proxies,
        addressDelayMs,
      },
    })
    const flags = [paused, draining, adaptive].map(Number)
    await this.script('configure', [delayMs, perHost, maxRunning ?? '', ...flags, text])
    // Hosts that wait by an older, longer delay are called forward, in parts.
    for (let passed = 0, looked = 1; looked > 0; ) {
      const [many, left] = (await this.script('hasten', [passed])) as [number, number]
      looked = many
      passed += left
    }
  }

  /** Raises the epoch (never lowers it). Claims then give tokens of the new epoch; older tokens are STALE. */
  async setEpoch(epoch: number): Promise<void> {
    await this.script('set-epoch', [epoch])
  }

  /**
   * Makes the run known; repeats change nothing, except that a finished run is opened again. `maxPages` caps the URLs
   * admitted, `maxPagesPerHost` those of each host (null: no cap).
   */
  async openRun(
    run: number,
    options: { dedupe: Dedupe; maxPages: number | null; maxPagesPerHost?: number | null },
  ): Promise<void> {
    const { dedupe, maxPages, maxPagesPerHost = null } = options
    for (const [name, cap] of Object.entries({ maxPages, maxPagesPerHost }))
      if (cap !== null && cap < 1)
        throw new RangeError(`${name} of run ${run} must be at least 1, or null for no cap; got ${cap}.`)
    const caps = [maxPages ?? 0, maxPagesPerHost ?? 0]
    const record = (await this.script('open-run', [run, ...caps, dedupeText(dedupe)])) as string
    const seen = this.remember(run, record)
    if (seen.kind === 'exact') return
    // A Bloom chunk is made here, one short command each: within a script all of them could come at once.
    // The bit set is one past those in use.
    for (const key of seen.keys.slice(0, seen.chunks)) {
      await this.plain('making a Bloom filter', () => this.redis.setbit(key, seen.bits, 0))
      if (seen.ttl > 0) await this.plain('making a Bloom filter', () => this.redis.expire(key, seen.ttl))
    }
  }

  /**
   * Admits tasks, `ADMITTED_AT_ONCE` a script: an error leaves those before it admitted, and all can be given again.
   * `refused` counts those over `maxPages` or their host's budget; a cancelled, finished or unknown run refuses all.
   */
  async admit(
    run: number,
    tasks: NewTask[],
  ): Promise<{ admitted: number; duplicate: number; refused: number }> {
    const sum = { admitted: 0, duplicate: 0, refused: 0 }
    for (const slice of slices(tasks, ADMITTED_AT_ONCE)) {
      const reply = await this.seeing('admit', [run], (known) =>
        known.has(run) ? [slice.length, ...slice.flatMap(taskArguments)] : null,
      )
      const [admitted, duplicate, refused] = (reply ?? [0, 0, slice.length]) as [number, number, number]
      sum.admitted += admitted
      sum.duplicate += duplicate
      sum.refused += refused
    }
    return sum
  }

  /** Leases up to `max` (≤ 64) tasks for `leaseMs`, renewable up to `hardMs` from now; `worker` names the holder for `holders`. */
  async claim(options: {
    max: number
    leaseMs: number
    hardMs: number
    settingsVersion: number
    worker?: string
  }): Promise<Claimed> {
    const { max, leaseMs, hardMs, settingsVersion, worker = '' } = options
    const asked = performance.now()
    const reply = await this.script('claim', [max, leaseMs, hardMs, settingsVersion, random(), worker])
    const [epoch, wait, inbox, version, settings, ...fields] = reply as [
      number,
      number,
      number,
      number,
      string,
    ]
    return {
      leases: readLeases(fields, asked + Math.min(leaseMs, hardMs)),
      ...(settings ? { settings: { ...(JSON.parse(settings) as QueueSettings), version } } : {}),
      waitMs: wait < 0 ? null : wait,
      inbox,
      epoch,
    }
  }

  /** Charges the delivery and starts the host's delay. Call it right before the fetch. */
  async begin(held: Held[]): Promise<('OK' | 'STALE')[]> {
    bounded(held.length, 'begin')
    return (await this.script('begin', [random(), ...pairs(held)])) as ('OK' | 'STALE')[]
  }

  /** Renews leases, never past the hard limit set at claim. Answers the refs that are lost. */
  async extend(held: Held[], leaseMs: number): Promise<string[]> {
    bounded(held.length, 'extend')
    return (await this.script('extend', [leaseMs, ...pairs(held)])) as string[]
  }

  /** Admits links of pages that are still held, for pages with more than one call's worth; then `ack`. */
  async addLinks(held: Held, links: NewTask[]): Promise<'OK' | 'STALE'> {
    bounded(links.length, 'addLinks')
    const { run } = splitRef(held.ref)
    const reply = await this.seeing('add-links', [run], (known) =>
      known.has(run) ? [held.ref, held.token, links.length, ...links.flatMap(taskArguments)] : null,
    )
    return (reply ?? 'STALE') as 'OK' | 'STALE'
  }

  /** Ends tasks and admits their links, all in one script. */
  async ack(acks: Ack[]): Promise<AckReply[]> {
    bounded(acks.length, 'ack')
    bounded(
      acks.reduce((sum, { links }) => sum + links.length, 0),
      'ack (links of all pages together)',
    )
    const linking = new Set(acks.filter(({ links }) => links.length > 0).map(({ ref }) => splitRef(ref).run))
    const reply = await this.seeing('ack', [...linking], (known) => [
      acks.length,
      ...acks.flatMap(({ ref, token, state, reason, answerMs, links }) => {
        // A run that Redis does not know holds no task: the reply is STALE, with or without links.
        const admitted = known.has(splitRef(ref).run) ? links : []
        const answered = answerMs === undefined ? '' : Math.round(answerMs)
        return [
          ref,
          token,
          state,
          reason ?? '',
          answered,
          admitted.length,
          ...admitted.flatMap(taskArguments),
        ]
      }),
    ])
    return reply as AckReply[]
  }

  /** A passing failure: waits `delayMs`, then pending. Counts one attempt. */
  async retry(held: Held, delayMs: number): Promise<'OK' | 'DONE_ALREADY' | 'STALE'> {
    return (await this.script('retry', [held.ref, held.token, Math.round(delayMs)])) as AckReply
  }

  /** Hands tasks back at once, without charging a delivery (drain). */
  async release(held: Held[]): Promise<('OK' | 'STALE')[]> {
    bounded(held.length, 'release')
    return (await this.script('release', pairs(held))) as ('OK' | 'STALE')[]
  }

  /** The host asks for patience (Retry-After): nothing more from it for `ms`, at least. */
  async hold(host: string, ms: number): Promise<void> {
    await this.script('hold', [host, Math.round(ms), '', '', 0])
  }

  /** The host is asked too much: nothing more from it for `ms`, at least, and from then on half as often. */
  async slowDown(host: string, ms: number): Promise<void> {
    await this.script('hold', [host, Math.round(ms), '', '', 1])
  }

  /** Sets a host's own minimum delay (robots Crawl-delay), in force beside the queue's; 0 removes it. */
  async setHostDelay(host: string, delayMs: number): Promise<void> {
    await this.script('hold', [host, 0, Math.round(delayMs), '', 0])
  }

  /** An operator's delay for a host, in force instead of the queue's, at once; null takes it back. */
  async setHostRate(host: string, delayMs: number | null): Promise<void> {
    await this.script('hold', [host, 0, '', delayMs === null ? -1 : Math.round(delayMs), 0])
  }

  /** Takes up to `limit` (≤ 500) lapsed leases back; those with `maxDeliveries` begun become dead letters. */
  async reap(
    limit: number,
    maxDeliveries: number,
  ): Promise<{ returned: number; dead: { run: number; id: string; url: string }[] }> {
    const reply = await this.script('reap', [limit, maxDeliveries])
    const [returned, ...fields] = reply as [number, ...string[]]
    const dead = []
    for (let at = 0; at < fields.length; at += 2)
      dead.push({ ...splitRef(fields[at]!), url: fields[at + 1]!.split('\n')[1]! })
    return { returned, dead }
  }

  /** Puts dead letters back to pending with fresh budgets. Without refs: up to 100 of the run; repeat until 0. */
  async redrive(run: number, refs: string[] = []): Promise<number> {
    bounded(refs.length, 'redrive')
    return (await this.script('redrive', [run, ...refs])) as number
  }

  /** Ends everything of the run that is not terminal; running pages' acks answer STALE. Repeat until `left` is 0. */
  async cancelRun(run: number): Promise<{ cancelled: number; left: number }> {
    let cancelled = 0
    let cursor = '0'
    // A queue shared with bigger runs has long stretches without a task of this one: go on until there is something to say.
    for (;;) {
      const [ended, left, next] = (await this.script('cancel-run', [run, cursor])) as [number, number, string]
      cancelled += ended
      cursor = next
      if (left === 0 || cancelled >= MAX_MEMBERS || cursor === '0') return { cancelled, left }
    }
  }

  /** Cancels up to `most` (≤ 300) of the URLs that wait, of all runs; what is in work stays. Repeat until `left` is 0. */
  async purge(most: number): Promise<{ cancelled: number; left: number }> {
    const [cancelled, left] = (await this.script('purge', [most])) as [number, number]
    return { cancelled, left }
  }

  /** Cancels single URLs (ids) of a run. */
  async cancelUrls(run: number, ids: string[]): Promise<number> {
    bounded(ids.length, 'cancelUrls')
    return (await this.script('cancel-urls', [run, ...ids])) as number
  }

  /**
   * Closes the run if nothing is open, atomically. True when it is closed (also when it was before); false too for a
   * run that Redis does not know.
   */
  async finish(run: number): Promise<boolean> {
    return (await this.script('finish', [run])) === 1
  }

  /** Drops the keys of a finished run (its own seen set, counters, dead letters). The record in MySQL stays. */
  async forget(run: number): Promise<void> {
    const known = await this.known([run])
    const seen = known.get(run)
    const own = seen ? [...(seen.own ? seen.keys : []), seen.shares] : []
    while ((await this.script('forget', [run], own)) === 0);
    this.seen.delete(run)
  }

  async counts(run: number): Promise<Counts> {
    const names = [...STATES, 'admitted'] as const
    const values = await this.plain('counts', () =>
      this.redis.hmget(keys.countsKey(this.name), ...names.map((state) => `${run}.${state}`)),
    )
    return Object.fromEntries(names.map((state, at) => [state, Number(values[at] ?? 0)])) as Counts
  }

  /** The queue as a whole: each length a cardinality; `totals` count outcomes since the queue exists. */
  async lengths(): Promise<QueueLengths> {
    return this.plain('lengths', () => readLengths(this))
  }

  /**
   * Whether there is work that a free worker could begin at this instant: an inbox entry, or a page whose host's turn it is. What
   * waits for its host alone does not count, for no number of workers would hasten it.
   */
  async waitsForWorker(): Promise<boolean> {
    const { name } = this
    const now = Date.now()
    const replies = await this.plain('waits', () =>
      this.redis
        .multi()
        .llen(keys.inboxKey(name))
        .zcard(keys.readyKey(name))
        .zcount(keys.turnKey(name), '-inf', now)
        .zcount(keys.delayedKey(name), '-inf', now)
        .exec(),
    )
    return (replies ?? []).some(([error, value]) => {
      if (error) throw classed(error, 'waits')
      return Number(value) > 0
    })
  }

  /**
   * Tasks of a run in a state (not the terminal ones except `failed`, newest first), a page by cursor: '0' at first,
   * '0' again at the end. For the console: a page may be short, and others work on the queue meanwhile.
   */
  async list(
    run: number,
    state: State,
    cursor: string,
    limit: number,
  ): Promise<{ tasks: (NewTask & { ref: string })[]; cursor: string }> {
    return this.plain('list', () => listTasks(this, run, state, cursor, limit))
  }

  /** The first `limit` inbox entries, left where they are. */
  async peekInbox(limit: number): Promise<string[]> {
    const raw = await this.plain('peekInbox', () =>
      this.redis.lrangeBuffer(keys.inboxKey(this.name), 0, limit - 1),
    )
    // Anyone may push anything: an entry that is no UTF-8 can only be taken by its bytes.
    this.peeked = raw.map((bytes) => ({ text: bytes.toString(), raw: bytes }))
    return this.peeked.map(({ text }) => text)
  }

  /**
   * Takes `entries`, which must still be the head of the inbox, and in the same script admits `tasks` and keeps `rejected`.
   * Tasks over their run's `maxPages` or their host's budget are kept as rejected too.
   * @returns false, with nothing changed, when the head is another by now.
   * @throws RunClosed when a run is not open.
   */
  async takeInbox(
    entries: string[],
    admit: { run: number; tasks: NewTask[] }[],
    rejected: Rejected[],
  ): Promise<boolean> {
    bounded(entries.length, 'takeInbox')
    bounded(rejected.length, 'takeInbox (rejected)')
    bounded(
      admit.reduce((sum, { tasks }) => sum + tasks.length, 0),
      'takeInbox (tasks of all runs together)',
    )
    const runs = new Map<number, NewTask[]>()
    for (const { run, tasks } of admit) runs.set(run, [...(runs.get(run) ?? []), ...tasks])
    const raw = entries.map((text, at) => (this.peeked[at]?.text === text ? this.peeked[at].raw : text))
    const reply = await this.seeing('take-inbox', [...runs.keys()], (known) => {
      for (const run of runs.keys())
        if (!known.has(run)) throw new RunClosed(`Run ${run} is not known to ${this.name}; open it first.`)
      return [
        entries.length,
        ...raw,
        rejected.length,
        ...rejected.map((one) => JSON.stringify(one)),
        ...[...runs.values()].flatMap((tasks) => [tasks.length, ...tasks.flatMap(taskArguments)]),
      ]
    })
    return reply === 1
  }

  /** Marks URLs as seen and terminal without queueing them: rebuilding a run from the record after an epoch change. */
  async restore(
    run: number,
    terminal: (Pick<NewTask, 'id' | 'url' | 'host'> & Partial<NewTask> & { state: OutcomeState })[],
  ): Promise<void> {
    for (const slice of slices(terminal, ADMITTED_AT_ONCE))
      await this.seeing('restore', [run], (known) => {
        if (!known.has(run)) throw new RunClosed(`Run ${run} is not known to ${this.name}; open it first.`)
        return [
          slice.length,
          ...slice.flatMap(({ state, ...page }) => [
            state,
            ...taskArguments({ depth: 0, priority: 0, ...page }),
          ]),
        ]
      })
  }

  /** Checks I1, I3 and I4 at one instant; `deep` also reads every task (I2), which is sound only while nobody works. */
  async audit(deep: boolean): Promise<QueueAudit> {
    return this.plain('audit', () => auditQueue(this, deep))
  }

  /** Of `ids`, those that the run has not seen (for I7, coverage). An unknown run has seen none. */
  async unseen(run: number, ids: string[]): Promise<string[]> {
    bounded(ids.length, 'unseen')
    const reply = await this.seeing('unseen', [run], (known) => (known.has(run) ? ids : null))
    return (reply ?? ids) as string[]
  }

  /** Runs a script on this queue's keys and `more`. */
  script(name: ScriptName, args: (string | number | Buffer)[], more: string[] = []): Promise<unknown> {
    return runScript(this.redis, name, [...this.frontier, ...more], args)
  }

  /** Runs a script that looks at what `runs` have seen; `args` answers null when there is nothing to ask. */
  private async seeing(
    name: ScriptName,
    runs: number[],
    args: (known: Map<number, Seen>) => (string | number | Buffer)[] | null,
  ): Promise<unknown> {
    for (let attempt = 1; ; attempt++) {
      const known = await this.known(runs)
      const own = args(known)
      if (!own) return null
      const memory = seenArguments(known)
      try {
        return await this.script(name, [...memory.args, ...own], memory.keys)
      } catch (error) {
        const text = error instanceof Error ? error.message : ''
        if (text.startsWith('CLOSED '))
          throw new RunClosed(`${this.name}: ${text.slice(7)}.`, { cause: error })
        if (!text.startsWith('DEDUPE ') || attempt > 1) throw error
        // Redis lost the run, and it was opened anew since we asked.
        for (const run of runs) this.seen.delete(run)
      }
    }
  }

  /** Where each of `runs` keeps what it has seen; runs that Redis does not know are left out. */
  private async known(runs: number[]): Promise<Map<number, Seen>> {
    const missing = runs.filter((run) => !this.seen.has(run))
    if (missing.length > 0) {
      const records = await this.plain('reading runs', () =>
        this.redis.hmget(keys.runsKey(this.name), ...missing.map(String)),
      )
      for (const [at, record] of records.entries()) if (record) this.remember(missing[at]!, record)
    }
    return new Map(runs.filter((run) => this.seen.has(run)).map((run) => [run, this.seen.get(run)!]))
  }

  private remember(run: number, record: string): Seen {
    const seen = seenOf(this.name, run, record.split('|')[2]!)
    if (this.seen.size >= REMEMBERED_RUNS) this.seen.delete(this.seen.keys().next().value!)
    this.seen.set(run, seen)
    return seen
  }

  private async plain<T>(doing: string, command: () => Promise<T>): Promise<T> {
    try {
      return await command()
    } catch (error) {
      throw classed(error, doing)
    }
  }
}

const pairs = (held: Held[]) => held.flatMap(({ ref, token }) => [ref, token])

/** For the jitter: scripts have no randomness of their own. */
const random = () => Math.floor(Math.random() * 2_147_483_647)
