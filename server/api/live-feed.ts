import type { Services } from '../context'
import { type Overview, OverviewReader } from './overview'

/** Milliseconds between two looks. */
const EVERY_MS = 1_000
/** Looks that are kept for clients that come back after a short break: five minutes. */
const KEPT = 300

/**
 * The overview, followed live. One reader a process looks once a second for all who follow, and only while somebody
 * does: a hundred open pages cost Redis and the database as much as one.
 */
export class LiveFeed {
  private readonly recent: Overview[] = []
  private followers = 0
  /** Whether it looks at present: only while somebody follows. */
  looking = false
  private readonly ended = new AbortController()
  private readonly waiting = new Set<() => void>()

  constructor(
    private readonly services: Services,
    private readonly reader: { read(): Promise<Overview> } = new OverviewReader(services),
  ) {}

  /**
   * Yields each new look until `signal` says to stop; with `after` (the `at` of the last one seen, ms) first those of the
   * last five minutes that were missed.
   */
  async *follow(signal: AbortSignal, after?: number): AsyncGenerator<Overview> {
    const until = AbortSignal.any([signal, this.ended.signal])
    this.followers++
    if (!this.looking) void this.look()
    try {
      let seen = after ?? Date.now() - 2 * EVERY_MS
      while (!until.aborted) {
        for (const overview of this.recent.filter((one) => one.at > seen)) {
          seen = overview.at
          yield overview
        }
        await this.change(until)
      }
    } finally {
      this.followers--
    }
  }

  /** Ends every stream. */
  close(): void {
    this.ended.abort()
  }

  private async look(): Promise<void> {
    this.looking = true
    while (this.followers > 0 && !this.ended.signal.aborted) {
      const began = Date.now()
      try {
        this.recent.push(await this.reader.read())
        if (this.recent.length > KEPT) this.recent.shift()
        for (const wake of this.waiting) wake()
      } catch (error) {
        // Followers see that nothing comes, and say so; the next look may succeed.
        this.services.log.warn({ err: error }, 'the live overview could not be read')
      }
      await pause(Math.max(100, EVERY_MS - (Date.now() - began)), this.ended.signal)
    }
    // In the same breath as the last check, so that whoever begins to follow now starts it again.
    this.looking = false
  }

  private change(until: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.waiting.delete(done)
        until.removeEventListener('abort', done)
        resolve()
      }
      this.waiting.add(done)
      until.addEventListener('abort', done, { once: true })
      if (until.aborted) done()
    })
  }
}

function pause(ms: number, until: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      until.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    until.addEventListener('abort', done, { once: true })
  })
}
