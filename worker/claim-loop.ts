import type { Redis } from 'ioredis'
import { sentence, Unavailable } from '../core/errors'
import type { Log } from '../core/log'
import type { Claimed, Queue } from '../core/queue/queue'
import type { Lease, QueueSettings } from '../core/queue/task'
import { quietUntil } from '../core/quiet-hours'
import { BLOCK_SECONDS } from '../core/redis'
import type { Finished, Finisher } from './finisher'
import type { LeaseKeeper } from './lease-keeper'
import { passed } from './steps'
import type { Visited } from './visit'

/** Longest nap between two claims when nothing is known to become due: others may admit work at any time. */
const LONGEST_NAP_MS = 1_000
const SHORTEST_NAP_MS = 25
/** Leases asked for in one claim. */
const CLAIM_AT_MOST = 64

export interface LoopParts {
  queue: Queue
  /** Id under which the console shows who holds a page. */
  worker: string
  blocking: Redis
  keeper: LeaseKeeper
  finisher: Finisher
  log: Log
  /** In force until the queue has settings of its own. */
  defaults: Pick<QueueSettings, 'concurrency' | 'delayMs'>
  /** This worker's own bound on `concurrency`. */
  mostConcurrent?: number | undefined
  leaseMs: number
  hardMs: number
  enterEpoch: (epoch: number) => void
  visit: (lease: Lease, signal: AbortSignal) => Promise<Visited>
  takeIn: (epoch: number) => Promise<boolean>
  /** How a page ends that need not be asked for; null for one that must be. */
  passOver: (lease: Lease) => Promise<Finished | null>
}

/**
 * Keeps the worker's slots full. A claimed page waits in `#ready` until a slot is free, and only then is it begun, which is what
 * charges a delivery: a page that takes its worker down is charged, the pages that waited beside it are not. A page whose
 * holders keep vanishing (`isSuspect`) is visited alone, so that if it happens again nothing else is begun at that moment.
 */
export class ClaimLoop {
  settings: Pick<QueueSettings, 'concurrency' | 'delayMs' | 'quiet' | 'proxies' | 'addressDelayMs'>
  /** Time (`performance.now()`) of the last claim that was answered: the worker's sign of life. */
  lastClaimAt = performance.now()
  #version = 0
  #ready: Lease[] = []
  #suspects: Lease[] = []
  #visiting = new Map<string, { lease: Lease; alone: boolean; visit: Promise<void> }>()
  #stopping = false
  #loop: Promise<void> | undefined
  #starting = false
  #woken = false
  #wakeUp: (() => void) | undefined
  #watching = false
  #nap = SHORTEST_NAP_MS

  constructor(private readonly parts: LoopParts) {
    this.settings = this.#bounded(parts.defaults)
  }

  #bounded<T extends LoopParts['defaults']>(settings: T): T {
    const { mostConcurrent = settings.concurrency } = this.parts
    return { ...settings, concurrency: Math.min(settings.concurrency, mostConcurrent) }
  }

  get running(): number {
    return this.#visiting.size + this.parts.finisher.size
  }

  start(): void {
    this.#loop = this.#run()
  }

  /** Something changed that may allow another claim or start. */
  wake(): void {
    this.#woken = true
    this.#wakeUp?.()
    void this.#startReady()
  }

  /** Stops claiming, waits for what is under way, and hands back what is not done in time. @returns whether all was done. */
  async stop(graceMs: number): Promise<boolean> {
    this.#stopping = true
    this.wake()
    await this.#loop
    await this.#handBack([...this.#ready.splice(0), ...this.#suspects.splice(0)])
    const underWay = Promise.all([...this.#visiting.values()].map(({ visit }) => visit)).then(() =>
      this.parts.finisher.drained(),
    )
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), graceMs)
    })
    const clean = (await Promise.race([underWay, late])) !== 'late'
    clearTimeout(timer)
    if (!clean) {
      const leases = [...this.#visiting.values()].map(({ lease }) => lease)
      this.parts.keeper.abortAll('the worker is stopping')
      await this.#handBack(leases)
    }
    return clean
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      this.#woken = false
      if (this.#quiet) void this.#handBack([...this.#ready.splice(0), ...this.#suspects.splice(0)])
      void this.#startReady()
      const wanted = this.#quiet ? 0 : this.#wanted()
      if (wanted === 0) {
        await this.#rest(LONGEST_NAP_MS)
        await this.#lookForSettings()
        continue
      }
      let claimed: Claimed
      try {
        claimed = await this.#claim(wanted)
        // `takeIn` may fail for the database's sake; the entries stay where they are.
        if (claimed.inbox > 0 && (await this.parts.takeIn(claimed.epoch))) continue
      } catch (error) {
        this.#report(error)
        await this.#rest(LONGEST_NAP_MS)
        continue
      }
      if (claimed.leases.length > 0) this.#nap = SHORTEST_NAP_MS
      if (claimed.leases.length === wanted) continue
      if (claimed.inbox === 0 && claimed.leases.length === 0) this.#watchInbox()
      await this.#rest(Math.min(claimed.waitMs ?? this.#nap, this.#nap))
      this.#nap = Math.min(this.#nap * 2, LONGEST_NAP_MS)
    }
  }

  /** Pages under way end; no more is begun. */
  get #quiet(): boolean {
    return quietUntil(this.settings.quiet, Date.now()) !== null
  }

  /** How many more leases are useful now: enough to fill the slots and half as many again to fill them at once. */
  #wanted(): number {
    if (this.#suspects.length > 0) return 0
    const { concurrency } = this.settings
    // Pages that wait for the database hold the claims back, so that an outage of it does not fill the memory.
    if (this.parts.finisher.size > 4 * concurrency) return 0
    const room = concurrency + Math.ceil(concurrency / 2) - this.#visiting.size - this.#ready.length
    return room >= Math.max(1, concurrency / 4) ? Math.min(room, CLAIM_AT_MOST) : 0
  }

  async #claim(max: number): Promise<Claimed> {
    const claimed = await this.parts.queue.claim({
      max,
      leaseMs: this.parts.leaseMs,
      hardMs: this.parts.hardMs,
      settingsVersion: this.#version,
      worker: this.parts.worker,
    })
    this.lastClaimAt = performance.now()
    if (claimed.leases.length > 0) passed('claimed')
    this.parts.enterEpoch(claimed.epoch)
    if (claimed.settings) {
      this.#version = claimed.settings.version
      this.settings = this.#bounded(claimed.settings)
      this.parts.log.info({ settings: this.settings }, 'Settings in force')
      // Claimed, but not begun: after a pause nothing more is.
      if (claimed.settings.paused) void this.#handBack(this.#ready.splice(0))
    }
    if (this.#quiet) {
      await this.#handBack(claimed.leases)
      return { ...claimed, leases: [] }
    }
    for (const lease of claimed.leases) {
      this.parts.keeper.hold(lease)
      if (isSuspect(lease)) this.#suspects.push(lease)
      else this.#ready.push(lease)
    }
    void this.#startReady()
    return claimed
  }

  /** A worker whose slots are all taken claims nothing for as long as its pages take; new settings must not wait for that. */
  async #lookForSettings(): Promise<void> {
    if (this.#stopping || performance.now() - this.lastClaimAt < LONGEST_NAP_MS) return
    try {
      await this.#claim(0)
    } catch (error) {
      this.#report(error)
    }
  }

  /** Begins as many waiting pages as there are slots, in one call. */
  async #startReady(): Promise<void> {
    if (this.#starting) return
    this.#starting = true
    try {
      for (;;) {
        const taken = this.#next()
        if (taken.length === 0) return
        const batch = await this.#passOver(taken)
        if (batch.length === 0) continue
        const replies = await this.parts.queue.begin(batch)
        passed('begun')
        for (const [n, lease] of batch.entries()) {
          if (replies[n] === 'OK') this.#visit(lease)
          else this.parts.keeper.drop(lease)
        }
      }
    } catch (error) {
      // Not knowing whether they were begun, leave them: their leases lapse and they come again.
      this.#report(error)
    } finally {
      this.#starting = false
    }
  }

  /** Ends the pages that need not be asked for. @returns the others; none while the database cannot say which these are. */
  async #passOver(leases: Lease[]): Promise<Lease[]> {
    try {
      const ends = await Promise.all(leases.map((lease) => this.parts.passOver(lease)))
      for (const end of ends) if (end) this.parts.finisher.push(end)
      return leases.filter((_, n) => !ends[n])
    } catch (error) {
      this.#report(error)
      await new Promise((resolve) => setTimeout(resolve, LONGEST_NAP_MS))
      await this.#handBack(leases)
      return []
    }
  }

  #next(): Lease[] {
    if (this.#stopping || this.#quiet) return []
    if ([...this.#visiting.values()].some(({ alone }) => alone)) return []
    if (this.#suspects.length > 0) return this.running === 0 ? this.#suspects.splice(0, 1) : []
    const slots = this.settings.concurrency - this.#visiting.size
    return slots > 0 && this.parts.finisher.size <= 4 * this.settings.concurrency
      ? this.#ready.splice(0, slots)
      : []
  }

  #visit(lease: Lease): void {
    const signal = this.parts.keeper.hold(lease)
    const visit = this.parts
      .visit(lease, signal)
      .then((visited) => {
        if ('finished' in visited) this.parts.finisher.push(visited.finished)
        else this.parts.keeper.drop(lease)
      })
      .catch((error) => {
        // Not the page's fault: its lease lapses and it is delivered again.
        this.parts.keeper.drop(lease)
        this.#report(error, lease)
      })
      .finally(() => {
        this.#visiting.delete(lease.ref)
        this.wake()
      })
    this.#visiting.set(lease.ref, { lease, alone: isSuspect(lease), visit })
  }

  /** While idle, one blocking read that takes nothing tells of a new inbox entry at once. Nothing depends on it. */
  #watchInbox(): void {
    if (this.#watching || this.#stopping) return
    this.#watching = true
    const { name } = this.parts.queue
    this.parts.blocking
      .blmove(name, name, 'LEFT', 'LEFT', BLOCK_SECONDS)
      .then((entry) => {
        if (entry !== null) this.wake()
      })
      .catch(() => this.parts.blocking.disconnect(true))
      .finally(() => {
        this.#watching = false
      })
  }

  async #rest(ms: number): Promise<void> {
    if (this.#woken || this.#stopping) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.max(ms, 5))
      this.#wakeUp = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.#wakeUp = undefined
  }

  async #handBack(leases: Lease[]): Promise<void> {
    for (const lease of leases) this.parts.keeper.drop(lease)
    try {
      for (let from = 0; from < leases.length; from += 100)
        await this.parts.queue.release(leases.slice(from, from + 100))
    } catch (error) {
      this.parts.log.warn(
        { pages: leases.length, cause: sentence(error) },
        'Pages could not be handed back; their leases lapse instead',
      )
    }
  }

  #report(error: unknown, lease?: Lease): void {
    const where = lease ? { url: lease.url, run: lease.run } : {}
    if (
      error instanceof Unavailable ||
      /ECONN|ETIMEDOUT|Connection is closed|Command timed out|Stream isn't writeable/.test(sentence(error))
    ) {
      this.parts.log.warn({ ...where, cause: sentence(error) }, 'A server does not answer; trying again')
    } else {
      this.parts.log.error(
        { ...where, err: error },
        'Unexpected error; the page comes again when its lease lapses',
      )
    }
  }
}

/**
 * Two holders vanished with it. One may happen to any page that was under way when a worker was killed; were each of those visited
 * alone, a few kills would slow the crawl to a crawl. A page that does take its workers down is alone from its third delivery on,
 * so the pages beside it are charged twice at most, less than MAX_DELIVERIES allows.
 */
function isSuspect(lease: Lease): boolean {
  return lease.deliveries - lease.attempts >= 2
}
