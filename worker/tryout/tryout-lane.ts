import type { Redis } from 'ioredis'
import { sentence } from '../../core/errors'
import type { Log } from '../../core/log'
import { HOLD_AGAIN_MS, type TakenTryout, type Tryouts } from '../../core/queue/tryouts'
import { TurnTooFar } from '../../core/queue/turn'
import { seedScope } from '../../core/scope'
import { type Spider, startUrls } from '../../core/spider'
import type { TryoutAnswer } from '../../core/tryout'
import { compileSpider } from '../extract/compile-spider'
import type { Fetched } from '../fetch/fetcher'
import { askRobots } from '../host-robots'
import { type CrawlRun, type Installation, inForce } from '../run-cache'
import { fetchTryout, type TryoutParts } from './fetch-tryout'
import { readTryout } from './read-tryout'

/** Trials that one worker has in hand at a time. */
const AT_ONCE = 4
/** All that one may take: two waits for its host's turn, robots.txt and the page. */
const LONGEST_MS = 120_000
/** After an error of Redis. */
const PAUSE_MS = 1000

export interface LaneParts extends TryoutParts {
  tryouts: Tryouts
  /** For waiting alone. */
  blocking: Redis
  installation: Installation
  log: Log
}

/**
 * The worker's side of trials: takes them one after the other, beside the crawl and without a place in it, and answers each,
 * whatever the page does. A trial is lost with its worker; whoever asked for it sees that and asks again.
 */
export class TryoutLane {
  #inHand = new Map<string, Promise<void>>()
  #stop = new AbortController()
  #loop: Promise<void> | undefined
  #holding: NodeJS.Timeout | undefined
  #freed: (() => void) | undefined

  constructor(private readonly parts: LaneParts) {}

  start(): void {
    this.#loop = this.#run()
    this.#holding = setInterval(() => {
      if (this.#inHand.size > 0)
        this.parts.tryouts.hold([...this.#inHand.keys()]).catch(() => {
          // It counts as lost unless Redis answers next time.
        })
    }, HOLD_AGAIN_MS)
  }

  /** Takes nothing more and breaks off what is in hand. */
  async stop(): Promise<void> {
    this.#stop.abort()
    clearInterval(this.#holding)
    // It may wait there for seconds; what it would take now would be lost.
    this.parts.blocking.disconnect()
    this.#freed?.()
    await this.#loop
    await Promise.all(this.#inHand.values())
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      try {
        if (this.#inHand.size >= AT_ONCE) await this.#roomAgain()
        else {
          const taken = await this.parts.tryouts.take(this.parts.blocking)
          if (taken) this.#begin(taken)
        }
      } catch (error) {
        if (signal.aborted) return
        this.parts.log.warn({ cause: sentence(error) }, 'No trial could be asked for; trying again')
        this.parts.blocking.disconnect(true)
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
      }
    }
  }

  #roomAgain(): Promise<void> {
    return new Promise((resolve) => {
      this.#freed = resolve
    })
  }

  #begin(taken: TakenTryout): void {
    const work = this.#work(taken)
      .catch((error) => this.parts.log.error({ err: error, tryout: taken.id }, 'A trial has no answer'))
      .finally(() => {
        this.#inHand.delete(taken.id)
        this.#freed?.()
      })
    this.#inHand.set(taken.id, work)
  }

  async #work({ id, request }: TakenTryout): Promise<void> {
    const { tryouts, log } = this.parts
    const started = performance.now()
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(LONGEST_MS)])
    log.info(
      { tryout: id, kind: request.kind, ...(request.kind === 'fetch' && { url: request.url }) },
      'trial',
    )
    if (request.kind === 'read') return tryouts.answer(id, await this.#guarded(() => this.#read(request)))
    let kept: Awaited<ReturnType<typeof fetchTryout>>['kept']
    const answer = await this.#guarded(async () => {
      const run = this.#runOf(request.url, request.definition, request.spider)
      const done = await fetchTryout(request.url, run, signal, this.parts)
      kept = done.kept
      return { kind: 'page', page: done.page }
    })
    // Stopped: whoever asked is told that it is lost.
    if (this.#stop.signal.aborted) return
    const late: TryoutAnswer = { kind: 'timeout', ms: Math.round(performance.now() - started) }
    await tryouts.answer(id, signal.aborted ? late : answer, kept)
  }

  async #read({ of, definition }: TakenTryout['request'] & { kind: 'read' }): Promise<TryoutAnswer> {
    const { tryouts, userAgent, robots: hosts, code } = this.parts
    const page = await tryouts.page(of)
    if (!page) return { kind: 'gone' }
    const { head, body } = page
    const run = this.#runOf(head.url, definition)
    // Nothing is fetched to read a page again, robots.txt neither.
    const asked = (await hosts.needsFetch(head.finalUrl, run.spider.spider))
      ? null
      : await askRobots(hosts, head.finalUrl, run.spider.spider)
    const robots = asked && 'robots' in asked ? asked.robots : null
    return {
      kind: 'reading',
      reading: await readTryout(asFetched(head, body), run, { userAgent, robots, code }),
    }
  }

  #runOf(url: string, definition: Spider, spiderId = 0): CrawlRun {
    const spider = compileSpider(inForce(definition, this.parts.installation))
    return { id: 0, spiderId, spider, seeds: seedScope([...startUrls(definition), url]), previous: null }
  }

  async #guarded(work: () => Promise<TryoutAnswer>): Promise<TryoutAnswer> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof TurnTooFar) return { kind: 'busy', host: error.host, waitMs: error.waitMs }
      if (error instanceof Error && error.name === 'AbortError') return { kind: 'timeout', ms: LONGEST_MS }
      this.parts.log.error({ err: error }, 'A trial failed')
      return { kind: 'fault' }
    }
  }
}

/** A kept page as it was when it was fetched, as far as reading it goes. */
function asFetched(
  {
    url,
    finalUrl,
    contentType,
    headers,
  }: { url: string; finalUrl: string; contentType: string | null; headers: Fetched['headers'] },
  body: Buffer,
): Fetched {
  return {
    ...{ url, finalUrl, contentType, headers, body, status: 200, truncated: null, wireBytes: body.length },
    ...{ headersMs: 0, ms: 0, lenient: false, redirects: [], hops: [] },
  }
}
