import { sentence } from '../core/errors'
import type { Log } from '../core/log'
import type { Queue } from '../core/queue/queue'
import type { OutcomeState } from '../core/queue/states'
import type { Lease, NewTask } from '../core/queue/task'
import type { KnownLinks } from './known-links'
import { tokenEpoch } from './known-links'
import type { LeaseKeeper } from './lease-keeper'
import type { Reason } from './outcome'
import type { PageRecord } from './sink/pages'
import { passed } from './steps'

/** A page on its way from memory to the record. */
export interface Finished {
  lease: Lease
  state: OutcomeState
  /** Why, for the list of dead letters. */
  reason: Reason | null
  /** Milliseconds after which its host began to answer; absent where that says nothing of what the host can bear. */
  answerMs?: number
  /** The row to store; null when it is in the record already and only the acknowledgement is missing. */
  record: PageRecord | null
  /** Links to admit with the acknowledgement, the same that the row holds. */
  links: NewTask[]
}

/** How far a page has come; a batch that failed half-way goes on from here. */
interface Progress extends Finished {
  /** Links that went ahead of the acknowledgement. */
  sent: number
  through: boolean
}

/** Rows of one transaction. */
const BATCH = 100
/** Links in one script call; more of one page go ahead of its acknowledgement. */
const LINKS_A_CALL = 200

/**
 * Stores finished pages and only then acknowledges them. While one batch is on its way the next gathers, so that the busier
 * the worker, the larger the batches. The order is what makes a crash harmless: with the row stored and the acknowledgement
 * missing, the next holder finds the row and acknowledges from it; the other way round a page would be lost.
 */
export class Finisher {
  #waiting: Progress[] = []
  #flushing: Promise<void> | undefined
  #open = 0

  constructor(
    private readonly parts: {
      queue: Queue
      store: (records: PageRecord[]) => Promise<(string | null)[]>
      keeper: LeaseKeeper
      known: KnownLinks
      log: Log
      /** Called for each page that is through, however it ended. */
      settled: (finished: Finished, acknowledged: boolean) => void
    },
  ) {}

  /** Pages that are fetched and not yet acknowledged. */
  get size(): number {
    return this.#open
  }

  push(finished: Finished): void {
    this.#open++
    this.#waiting.push({ ...finished, sent: 0, through: false })
    this.#flushing ??= this.#flush().finally(() => {
      this.#flushing = undefined
    })
  }

  /** Resolves when nothing is on its way. */
  async drained(): Promise<void> {
    while (this.#flushing) await this.#flushing
  }

  async #flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      // One turn of the event loop lets pages that finish together share a transaction.
      await new Promise(setImmediate)
      const batch = this.#waiting.splice(0, BATCH)
      await this.#finish(batch)
    }
  }

  async #finish(batch: Progress[]): Promise<void> {
    let wait = 250
    let left = batch
    for (;;) {
      left = left.filter((finished) => !finished.through && this.#stillOurs(finished))
      if (left.length === 0) return
      try {
        await this.#storeAndAcknowledge(left)
        return
      } catch (error) {
        // Nothing is acknowledged without its row; as long as the leases can be renewed, what was fetched is kept and tried again.
        this.parts.log.error(
          { pages: left.length, cause: sentence(error), retryMs: wait },
          'Finished pages could not be stored; trying again',
        )
        await new Promise((resolve) => setTimeout(resolve, wait))
        wait = Math.min(wait * 2, 5_000)
      }
    }
  }

  #stillOurs(finished: Progress): boolean {
    if (this.parts.keeper.mayCommit(finished.lease)) return true
    this.#settle(finished, false)
    return false
  }

  async #storeAndAcknowledge(batch: Progress[]): Promise<void> {
    const unstored = batch.filter((finished) => finished.record !== null)
    const verdicts = await this.parts.store(unstored.map((finished) => finished.record!))
    for (const [n, finished] of unstored.entries()) {
      const refusal = verdicts[n]
      if (refusal) await this.#storeRefusal(finished, refusal)
      finished.record = null
    }
    passed('stored')
    await this.#acknowledge(batch)
  }

  /** The database refuses the page's content: what is stored instead says so, and has nothing of the content. */
  async #storeRefusal(finished: Progress, refusal: string): Promise<void> {
    this.parts.log.error(
      { url: finished.lease.url, cause: refusal },
      'The database refuses the page; storing its failure instead',
    )
    const bare: PageRecord = {
      ...finished.record!,
      state: 'failed',
      reason: 'unstorable',
      detail: refusal.slice(0, 500),
      title: null,
      items: [],
      links: null,
      visit: null,
    }
    // All at once: when storing it fails, the next try must not store one outcome and acknowledge another.
    Object.assign(finished, { state: 'failed', reason: 'unstorable', links: [], record: bare })
    const [again] = await this.parts.store([bare])
    if (again) throw new Error(again)
  }

  async #acknowledge(batch: Progress[]): Promise<void> {
    let group: Progress[] = []
    let links = 0
    for (const finished of batch) {
      // A page with more links than fit in one call sends them ahead, while it still holds its lease.
      while (finished.links.length - finished.sent > LINKS_A_CALL) {
        const reply = await this.parts.queue.addLinks(
          finished.lease,
          finished.links.slice(finished.sent, finished.sent + LINKS_A_CALL),
        )
        passed('links ahead')
        finished.sent = reply === 'STALE' ? finished.links.length : finished.sent + LINKS_A_CALL
      }
      const rest = finished.links.length - finished.sent
      if (group.length > 0 && links + rest > LINKS_A_CALL) {
        await this.#acknowledgeGroup(group)
        group = []
        links = 0
      }
      group.push(finished)
      links += rest
    }
    if (group.length > 0) await this.#acknowledgeGroup(group)
  }

  async #acknowledgeGroup(group: Progress[]): Promise<void> {
    const { queue, known, log } = this.parts
    const replies = await queue.ack(
      group.map(({ lease, state, reason, answerMs, links, sent }) => ({
        ref: lease.ref,
        token: lease.token,
        state,
        ...(reason ? { reason } : {}),
        ...(answerMs !== undefined && { answerMs }),
        links: links.slice(sent),
      })),
    )
    passed('acknowledged')
    for (const [n, reply] of replies.entries()) {
      const finished = group[n]!
      const { lease, links } = finished
      if (reply === 'STALE')
        log.warn(
          { url: lease.url, token: lease.token },
          'An acknowledgement came too late; the page belongs to another delivery',
        )
      else
        known.add(
          lease.run,
          links.map((link) => link.url),
          tokenEpoch(lease.token),
        )
      this.#settle(finished, reply !== 'STALE')
    }
  }

  #settle(finished: Progress, acknowledged: boolean): void {
    finished.through = true
    // Before anybody hears of it: whoever waits for nothing to be under way looks at `size` then.
    this.#open--
    this.parts.keeper.drop(finished.lease)
    this.parts.settled(finished, acknowledged)
  }
}
