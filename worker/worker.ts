import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Redis } from 'ioredis'
import { type Env, warcFolder } from '../core/env'
import { sentence } from '../core/errors'
import type { Log } from '../core/log'
import { objectStore } from '../core/object-store'
import { Queue } from '../core/queue/queue'
import type { Lease } from '../core/queue/task'
import { Tryouts } from '../core/queue/tryouts'
import { noteProgress } from '../core/sign-of-life'
import type { Database } from '../drizzle/database'
import { ClaimLoop } from './claim-loop'
import { CodeSpiders } from './code/code-spiders'
import { Cookies } from './cookies'
import { createFetcher, type Fetcher } from './fetch/fetcher'
import { Finisher } from './finisher'
import { HostRobots } from './host-robots'
import { takeIn } from './intake'
import { KnownLinks } from './known-links'
import { LeaseKeeper } from './lease-keeper'
import { passOver } from './not-due'
import { proxiedFetcher } from './proxy/proxied-fetcher'
import { ProxyPool } from './proxy/proxy-pool'
import { RunCache } from './run-cache'
import { SharedRobots } from './shared-robots'
import { SignIn } from './sign-in'
import { readCredentials } from './sink/credentials'
import { beat, registerWorker, retireWorker, type WorkerRecord } from './sink/fleet'
import { findSpider, goOn, openInboxRun, storeSeeds } from './sink/inbox'
import { type PageRecord, previousPage, storedPage, storePages } from './sink/pages'
import { readProxies } from './sink/proxies'
import { readRun } from './sink/runs'
import { callDue, lastVisit } from './sink/visits'
import { TryoutLane } from './tryout/tryout-lane'
import { visit } from './visit'
import { FileShipping } from './warc/ship-files'
import { WarcFiles } from './warc/warc-files'

export interface Connections {
  redis: Redis
  heartbeat: Redis
  blocking: Redis
  /** For trials, likewise. */
  trying: Redis
  database: Database
}

/** What the last files may take on their way to the object store when the worker stops. */
export const LAST_FILES_MS = 6_000

/** What fetches the pages of a worker that renders them, in place of the plain fetcher. */
export interface Pages {
  fetcher: Fetcher
  /** Pages at once at most, whatever the queue asks for. */
  slots: number
  /** Milliseconds for one page. */
  timeoutMs: number
  /** What an operator should know of it, or null. */
  remark: string | null
  /** Memory that it takes beside this process, in bytes. */
  bytes(): number
}

/** A worker without inbound port: takes URLs of one queue, visits them, stores what came of it. */
export class Worker {
  readonly record: WorkerRecord
  readonly #loop: ClaimLoop
  readonly #keeper: LeaseKeeper
  readonly #finisher: Finisher
  readonly #fetcher: ReturnType<typeof createFetcher>
  readonly #warc: WarcFiles
  readonly #shipping: FileShipping | undefined
  readonly #code: CodeSpiders
  readonly #lane: TryoutLane
  readonly #counts = { done: 0, failed: 0 }
  #heartbeat: NodeJS.Timeout | undefined
  #registered = false
  #draining = false

  constructor(
    private readonly env: Env,
    private readonly connections: Connections,
    private readonly log: Log,
    private readonly pages?: Pages,
  ) {
    const { redis, heartbeat, blocking, trying, database } = connections
    const { pool } = database
    const queue = new Queue(redis, env.QUEUE_KEY)
    this.record = {
      id: `${hostname()}-${process.pid}-${randomBytes(3).toString('hex')}`,
      kind: pages ? 'render' : 'http',
      queue: env.QUEUE_KEY,
      hostname: hostname(),
      pid: process.pid,
    }
    const known = new KnownLinks()
    const signIn = new SignIn((spider) => readCredentials(pool, spider))
    const cookies = new Cookies()
    const visits = {
      lastVisit: (spider: number, hash: Buffer, signal?: AbortSignal) =>
        lastVisit(pool, spider, hash, signal),
      callDue: (spider: number, pages: { hash: Buffer; changedAt: Date }[]) => callDue(pool, spider, pages),
    }
    const installation = { allowPrivate: env.ALLOW_PRIVATE, ignoreRobots: env.ROBOTS === 'ignore' }
    const runs = new RunCache((id) => readRun(pool, id), installation)
    const fetching = {
      userAgent: env.USER_AGENT,
      connectTimeoutMs: env.CONNECT_TIMEOUT * 1000,
      readTimeoutMs: env.READ_TIMEOUT * 1000,
      totalTimeoutMs: env.DOWNLOAD_TIMEOUT * 1000,
      maxBytes: env.MAX_BODY_BYTES,
      maxRedirects: env.MAX_REDIRECTS,
      namesMs: env.DNS_TTL * 1000,
    }
    const proxies = new ProxyPool({
      queue,
      read: () => readProxies(pool, env.QUEUE_KEY),
      rotation: () => this.#loop.settings.proxies ?? 'turn',
      log,
    })
    this.#fetcher = proxiedFetcher(createFetcher(fetching), proxies)
    const rendering = pages && {
      fetcher: proxiedFetcher(pages.fetcher, proxies),
      timeoutMs: pages.timeoutMs,
    }
    const store = objectStore(env)
    const openMs = store && env.WARC_FILE_SECONDS * 1000
    this.#shipping = store && new FileShipping({ store, folder: warcFolder(env), log, openMs: openMs! })
    this.#warc = new WarcFiles({
      folder: warcFolder(env),
      openMs,
      ended: (name) => this.#shipping?.ended(name),
      worker: this.record.id.replace(/[^\w.-]/g, '_').slice(0, 100),
      userAgent: env.USER_AGENT,
      maxBytes: env.WARC_FILE_BYTES,
    })
    this.#code = new CodeSpiders({
      folder: env.SPIDERS_DIR,
      timeoutMs: env.CODE_TIMEOUT * 1000,
      program: new URL('./code-thread.js', import.meta.url),
      print: (line) => log.info({ line }, 'The spider’s code printed'),
    })
    const robots = new HostRobots(this.#fetcher, env.USER_AGENT, new SharedRobots(redis, env.QUEUE_KEY, log))
    this.#lane = new TryoutLane({
      ...{ queue, robots, installation, log, blocking: trying, code: this.#code, signIn },
      tryouts: new Tryouts(redis, env.QUEUE_KEY),
      newFetcher: (more) => proxiedFetcher(createFetcher({ ...fetching, ...more }), proxies),
      totalTimeoutMs: fetching.totalTimeoutMs,
      pages: rendering,
      retryCodes: env.RETRY_HTTP_CODES,
      userAgent: env.USER_AGENT,
      worker: this.record.id,
    })
    this.#keeper = new LeaseKeeper(new Queue(heartbeat, env.QUEUE_KEY), env.LEASE_SECONDS * 1000, log)
    this.#finisher = new Finisher({
      queue,
      store: async (records) => {
        await this.#keep(records)
        return storePages(pool, records)
      },
      keeper: this.#keeper,
      known,
      log,
      settled: (finished, acknowledged) => {
        if (acknowledged) this.#counts[finished.state === 'failed' ? 'failed' : 'done']++
        this.#loop.wake()
      },
    })
    this.#loop = new ClaimLoop({
      queue,
      worker: this.record.id,
      blocking,
      keeper: this.#keeper,
      finisher: this.#finisher,
      log,
      defaults: { concurrency: env.CONCURRENT_REQUESTS, delayMs: env.DOWNLOAD_DELAY * 1000 },
      leaseMs: env.LEASE_SECONDS * 1000,
      mostConcurrent: pages?.slots,
      hardMs: pages ? pages.timeoutMs * 3 : env.DOWNLOAD_TIMEOUT * 3000,
      passOver: (lease) => passOver(lease, { ...visits, known, run: (id) => runs.of(id) }),
      enterEpoch: (epoch) => known.enter(epoch),
      visit: (lease: Lease, signal: AbortSignal) =>
        visit(lease, signal, {
          queue,
          fetcher: this.#fetcher,
          renderer: rendering?.fetcher,
          robots,
          known,
          cookies,
          code: this.#code,
          signIn,
          userAgent: env.USER_AGENT,
          log,
          policy: { retryTimes: env.RETRY_TIMES, retryCodes: env.RETRY_HTTP_CODES },
          delayMs: () => this.#loop.settings.delayMs,
          addressDelayMs: () => this.#loop.settings.addressDelayMs || null,
          run: (id) => runs.of(id),
          stored: (run, hash) => storedPage(pool, run, hash),
          previous: (run, hash) => previousPage(pool, run, hash),
          ...visits,
        }),
      takeIn: (epoch) =>
        takeIn(
          queue,
          {
            findSpider: (name) => findSpider(pool, name),
            openRun: (spider, current) => openInboxRun(pool, env.QUEUE_KEY, spider, current),
            goOn: (run) => goOn(pool, run),
            storeSeeds: (spiderId, run, seeds) => storeSeeds(pool, spiderId, run, seeds),
          },
          epoch,
          log,
        ),
    })
  }

  async start(): Promise<void> {
    await registerWorker(this.connections.database.pool, this.record, this.pages?.remark)
    this.#registered = true
    this.#keeper.start()
    this.#heartbeat = setInterval(() => void this.#beat(), this.env.HEARTBEAT_SECONDS * 1000)
    this.#loop.start()
    this.#lane.start()
    this.#shipping?.start()
    this.log.info(
      { worker: this.record.id, queue: this.record.queue, concurrency: this.#loop.settings.concurrency },
      'Worker started',
    )
  }

  /**
   * Takes nothing more, gives what is under way the drain time, hands the rest back at once and without charge, and stops.
   * @returns whether all of it ended within the time.
   */
  async drain(): Promise<boolean> {
    if (this.#draining) return true
    this.#draining = true
    this.log.info({ running: this.#keeper.size, seconds: this.env.DRAIN_SECONDS }, 'Draining')
    await this.#lane.stop()
    const clean = await this.#loop.stop(this.env.DRAIN_SECONDS * 1000)
    await this.stop()
    return clean
  }

  /** The mirror of `start`. */
  async stop(): Promise<void> {
    clearInterval(this.#heartbeat)
    await this.#lane.stop()
    this.#keeper.stop()
    await Promise.all([this.#fetcher.close(), this.pages?.fetcher.close()])
    this.#code.close()
    await this.#warc
      .close()
      .catch((error) => this.log.warn({ cause: sentence(error) }, 'The WARC file could not be ended'))
    await this.#shipping?.stop(LAST_FILES_MS)
    if (this.#registered) {
      await retireWorker(this.connections.database.pool, this.record).catch((error) =>
        this.log.warn({ cause: sentence(error) }, 'The stop could not be recorded'),
      )
    }
    this.log.info({ worker: this.record.id, ...this.#counts }, 'Worker stopped')
  }

  /** Before the rows that name them: a row never promises what is not on the disk. Written once, however often stored. */
  async #keep(records: PageRecord[]): Promise<void> {
    const open = records.filter((record) => record.archive !== null)
    if (open.length === 0) return
    const locations = await this.#warc.write(open.map((record) => record.archive!))
    for (const [n, record] of open.entries()) {
      record.warc ??= locations[n]!
      record.archive = null
    }
  }

  async #beat(): Promise<void> {
    const now = {
      running: this.#loop.running,
      done: this.#counts.done,
      failed: this.#counts.failed,
      rssBytes: process.memoryUsage.rss() + (this.pages?.bytes() ?? 0),
    }
    const sinceClaimMs = Math.round(performance.now() - this.#loop.lastClaimAt)
    this.log.info({ worker: this.record.id, ...now, idle: now.running === 0, sinceClaimMs }, 'heartbeat')
    await noteProgress(Date.now() - sinceClaimMs).catch((error) =>
      this.log.warn({ cause: sentence(error) }, 'The progress could not be written to HEALTH_FILE'),
    )
    try {
      await beat(this.connections.database.pool, this.record.id, this.#draining ? 'draining' : 'running', now)
    } catch (error) {
      this.log.warn({ cause: sentence(error) }, 'The heartbeat could not be recorded')
    }
  }
}
