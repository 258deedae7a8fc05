import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { stateFolder } from '../cli/stack/state'
import { startWorkers } from '../cli/worker-pool'
import { DEFAULT_SPIDER, type Spider } from '../core/spider'
import type { Services } from '../server/context'
import { dropQueue } from '../server/services/drop-queue'
import { ensureQueue } from '../server/services/queues'
import { createRun, runStatus } from '../server/services/runs'
import { ensureDefaultSpider } from '../server/services/spiders'

export interface ProductResult {
  pages: number
  seconds: number
  /** Resident memory of the worker over the crawl: pages done and bytes, once a second. */
  memory: { pages: number; bytes: number }[]
}

const LOOK_EVERY_MS = 25

/**
 * One worker of the whole product on the site: queue in Redis, default spider, results in MySQL. The clock runs from the
 * first finished page to the last acknowledgement, so neither the start of a process nor the scheduler's second counts.
 */
export async function crawlWithProduct(
  services: Services,
  seed: string,
  concurrency: number,
): Promise<ProductResult> {
  const queue = `bench_${randomBytes(4).toString('hex')}`
  await ensureQueue(services, queue, { delayMs: 0, perHost: concurrency, concurrency })
  const workers = startWorkers({ count: 1, queue, stateDir: stateFolder() })
  try {
    return await Promise.race([measure(services, queue, seed, () => workers.pids()[0]), workers.broken])
  } finally {
    await workers.stop()
    await dropQueue(services, queue)
  }
}

async function measure(
  services: Services,
  queue: string,
  seed: string,
  pid: () => number | undefined,
): Promise<ProductResult> {
  const definition: Spider = { ...DEFAULT_SPIDER, allowPrivate: true }
  const { id: spider } = await ensureDefaultSpider(services)
  const { id: run } = await createRun(services, {
    spider,
    definition,
    queue,
    seeds: [{ url: seed }],
    trigger: 'cli',
  })
  const frontier = services.queue(queue)
  const memory: ProductResult['memory'] = []
  let started: number | undefined
  let sampled = 0
  for (;;) {
    const counts = await frontier.counts(run)
    const now = performance.now()
    const open = counts.pending + counts.running + counts.retry
    if (started === undefined && counts.done > 0) started = now
    if (started !== undefined && now - sampled > 1000) {
      sampled = now
      memory.push({ pages: counts.done, bytes: await residentBytes(pid()) })
    }
    if (started !== undefined && open === 0) {
      await finished(services, run)
      return { pages: counts.done, seconds: (now - started) / 1000, memory }
    }
    await sleep(LOOK_EVERY_MS)
  }
}

async function finished(services: Services, run: number): Promise<void> {
  while ((await runStatus(services, run)).run.finishedAt === null) await sleep(100)
}

async function residentBytes(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024
}
