import { sentence } from '../core/errors'
import type { Log } from '../core/log'
import type { Queue } from '../core/queue/queue'
import type { Lease } from '../core/queue/task'

/** Less than this much lease left: too little to commit in. */
const MARGIN_MS = 1_000

/**
 * Renews the leases of everything the worker holds, in one call every third of their length, on a connection of its own so
 * that a large reply elsewhere cannot delay it. A lease that cannot be renewed is given up: its fetch is aborted and its result
 * is not stored, because another worker may have the page by then.
 */
export class LeaseKeeper {
  #held = new Map<string, { lease: Lease; abort: AbortController }>()
  #timer: NodeJS.Timeout | undefined
  #renewing = false

  constructor(
    private readonly queue: Queue,
    private readonly leaseMs: number,
    private readonly log: Log,
  ) {}

  start(): void {
    this.#timer = setInterval(() => void this.#renew(), this.leaseMs / 3)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  get size(): number {
    return this.#held.size
  }

  /** @returns the signal that aborts when the lease is lost. */
  hold(lease: Lease): AbortSignal {
    const abort = new AbortController()
    this.#held.set(lease.ref, { lease, abort })
    return abort.signal
  }

  drop(lease: Lease): void {
    if (this.#held.get(lease.ref)?.lease.token === lease.token) this.#held.delete(lease.ref)
  }

  /** Whether there is enough lease left to commit what it is for. */
  mayCommit(lease: Lease): boolean {
    return (
      this.#held.get(lease.ref)?.lease.token === lease.token &&
      performance.now() < lease.expiresAt - Math.min(MARGIN_MS, this.leaseMs / 4)
    )
  }

  /** Gives up all that is held. */
  abortAll(reason: string): void {
    for (const { abort } of this.#held.values()) abort.abort(new Error(reason))
  }

  async #renew(): Promise<void> {
    if (this.#renewing || this.#held.size === 0) return
    this.#renewing = true
    const asked = performance.now()
    const leases = [...this.#held.values()].map((entry) => entry.lease)
    try {
      const lost = new Set(await this.queue.extend(leases, this.leaseMs))
      for (const lease of leases) {
        if (lost.has(lease.ref)) this.#lose(lease, 'the lease was taken back')
        else lease.expiresAt = asked + this.leaseMs
      }
    } catch (error) {
      this.log.warn(
        { held: leases.length, cause: sentence(error) },
        'Leases could not be renewed; trying again',
      )
    } finally {
      this.#renewing = false
    }
    for (const lease of leases)
      if (performance.now() > lease.expiresAt - MARGIN_MS / 2) this.#lose(lease, 'the lease ran out')
  }

  #lose(lease: Lease, why: string): void {
    const entry = this.#held.get(lease.ref)
    if (entry?.lease.token !== lease.token) return
    this.log.warn({ url: lease.url, run: lease.run, token: lease.token }, `Gave up a page: ${why}`)
    this.#held.delete(lease.ref)
    entry.abort.abort(new Error(why))
  }
}
