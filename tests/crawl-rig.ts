import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startWorkers, type WorkerPool } from '../cli/worker-pool'
import { setEnv } from '../core/env'
import { type SpiderInput, spiderSchema } from '../core/spider'
import { openServices, type Services } from '../server/context'
import { type Scheduler, startScheduler } from '../server/scheduler/scheduler'
import { ensureQueue } from '../server/services/queues'
import { createRun, getRun, type RunRow } from '../server/services/runs'
import { saveSpider } from '../server/services/spiders'
import { freshDatabase, freshName, testRedisUrl } from './services'

export interface CrawlRig {
  services: Services
  queue: string
  /** Its runs are this one's. */
  spider: { id: number }
  /** Starts worker processes of the rig's queue with these variables on top. */
  workers(count: number, env?: Record<string, string>): WorkerPool
  /** Creates a run from `url` that follows the host's links, with what `spider` says beside that. */
  run(url: string, spider?: Partial<SpiderInput>): Promise<number>
  /** Resolves when the run has ended. */
  ended(run: number, timeoutMs?: number): Promise<RunRow>
  /** The URLs on record for the run, by state. */
  stored(run: number): Promise<Map<string, string>>
  close(): Promise<void>
}

/** A database, a queue and a scheduler of the test's own, with times so short that a minute holds many leases. */
export async function openRig(
  options: { delayMs?: number; perHost?: number; kind?: 'http' | 'render' } = {},
): Promise<CrawlRig> {
  const database = await freshDatabase()
  const queue = freshName('rig')
  const folder = await mkdtemp(join(tmpdir(), 'orbweaver-rig-'))
  await mkdir(join(folder, 'logs'))
  setEnv({
    REDIS_URL: testRedisUrl(),
    DATABASE_URL: database.url,
    REAP_SECONDS: '0.25',
    // Workers are killed on purpose, the same page's again and again.
    MAX_DELIVERIES: '50',
    LOG_LEVEL: 'error',
  })
  const services = await openServices('rig')
  await ensureQueue(
    services,
    queue,
    { delayMs: options.delayMs ?? 0, perHost: options.perHost ?? 8, concurrency: 8 },
    options.kind,
  )
  const scheduler: Scheduler = await startScheduler(services)
  const spider = await saveSpider(services, spiderSchema.parse({ name: 'rig', allowPrivate: true }), 'test')
  const pools: WorkerPool[] = []
  return {
    services,
    queue,
    spider,
    workers(count, env = {}) {
      const pool = startWorkers({
        count,
        queue,
        stateDir: folder,
        longestMs: 500,
        env: {
          LEASE_SECONDS: '1.2',
          DOWNLOAD_TIMEOUT: '3',
          READ_TIMEOUT: '2',
          HEARTBEAT_SECONDS: '1',
          ...env,
        },
      })
      pools.push(pool)
      return pool
    },
    async run(url, more = {}) {
      const { id } = await createRun(services, {
        spider: spider.id,
        definition: spiderSchema.parse({ name: 'rig', allowPrivate: true, ...more }),
        queue,
        seeds: [{ url }],
        trigger: 'manual',
      })
      return id
    },
    async ended(run, timeoutMs = 120_000) {
      const until = performance.now() + timeoutMs
      for (;;) {
        const row = await getRun(services, run)
        if (row.state === 'finished' || row.state === 'cancelled' || row.state === 'failed') return row
        if (performance.now() > until)
          throw new Error(
            `run ${run} did not end: ${JSON.stringify(await services.queue(queue).counts(run))}`,
          )
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    },
    async stored(run) {
      const [rows] = await services.database.pool.query('SELECT url, state FROM pages WHERE run_id = ?', [
        run,
      ])
      return new Map((rows as { url: string; state: string }[]).map(({ url, state }) => [url, state]))
    },
    async close() {
      await Promise.all(pools.map((pool) => pool.stop()))
      await scheduler.stop()
      await services.close()
      await database.drop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
