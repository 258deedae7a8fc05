import { and, count, eq, gte, inArray, min } from 'drizzle-orm'
import { queues } from '../../drizzle/schema/crawl'
import { samples, workerEvents } from '../../drizzle/schema/fleet'
import type { Services } from '../context'

/** The figures that the overview shows and alerts judge, counted in one place so that both always say the same. */

/** Queues, with their outcome totals as they were when the window began. */
export interface Baseline {
  names: string[]
  /** A queue that has no sample of that time is absent. */
  totals: Map<string, { done: number; failed: number }>
}

/** What stood in the totals `windowMs` ago. A queue younger than that began at 0; of the others the oldest sample of the window counts. */
export async function readBaseline(services: Services, at: number, windowMs: number): Promise<Baseline> {
  const { orm } = services.database
  const since = new Date(at - windowMs)
  const [names, oldest] = await Promise.all([
    orm.select({ name: queues.name, createdAt: queues.createdAt }).from(queues).orderBy(queues.name),
    orm
      .select({ queue: samples.queue, at: min(samples.at) })
      .from(samples)
      .where(gte(samples.at, since))
      .groupBy(samples.queue),
  ])
  const totals: Baseline['totals'] = new Map()
  for (const { name, createdAt } of names) {
    const first = oldest.find((one) => one.queue === name)?.at
    if (createdAt >= since) totals.set(name, { done: 0, failed: 0 })
    else if (first) {
      const [row] = await orm
        .select({ done: samples.doneTotal, failed: samples.failedTotal })
        .from(samples)
        .where(and(eq(samples.queue, name), eq(samples.at, first)))
      if (row) totals.set(name, row)
    }
  }
  return { names: names.map((one) => one.name), totals }
}

export interface Outcomes {
  done: number
  failed: number
  /** Done ÷ (done + failed), 0–1; null when nothing ended. */
  successRate: number | null
}

/** Outcomes of all queues since the baseline. */
export function outcomesSince(
  { totals: before }: Baseline,
  now: { name: string; totals: { done: number; failed: number } }[],
): Outcomes {
  let done = 0
  let failed = 0
  for (const { name, totals } of now) {
    const base = before.get(name) ?? totals
    done += Math.max(0, totals.done - base.done)
    failed += Math.max(0, totals.failed - base.failed)
  }
  return { done, failed, successRate: done + failed > 0 ? done / (done + failed) : null }
}

/** Workers that started again or were lost since then, and those of them for lack of memory. */
export async function countRestarts(
  services: Services,
  since: Date,
): Promise<{ restarts: number; outOfMemory: number }> {
  const rows = await services.database.orm
    .select({ kind: workerEvents.kind, n: count() })
    .from(workerEvents)
    .where(and(gte(workerEvents.at, since), inArray(workerEvents.kind, ['restart', 'lost', 'oom'])))
    .groupBy(workerEvents.kind)
  return {
    restarts: rows.reduce((sum, one) => sum + one.n, 0),
    outOfMemory: rows.find((one) => one.kind === 'oom')?.n ?? 0,
  }
}
