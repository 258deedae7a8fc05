import type { Dedupe } from '../../core/queue/task'
import type { Spider } from '../../core/spider'
import type { Services } from '../context'

/** What the dispatcher has to know of a run. */
export interface FrontierRun {
  id: number
  spiderId: number
  queue: string
  definition: Spider
}

/** A run that has seeds to be admitted. */
export interface SeededRun extends FrontierRun {
  ownSeeds: boolean
}

/** Makes the run known to its queue with its spider's limits; repeats change nothing. */
export async function openFrontier(s: Services, run: FrontierRun): Promise<void> {
  await s.queue(run.queue).openRun(run.id, {
    dedupe: dedupeOf(run.definition, run.spiderId),
    maxPages: run.definition.maxPages,
    maxPagesPerHost: run.definition.maxPagesPerHost ?? null,
  })
}

/** A spider's dedupe options in the terms of the queue. */
export function dedupeOf({ dedupe }: Spider, spider: number): Dedupe {
  const kind =
    dedupe.kind === 'bloom'
      ? ({ kind: 'bloom', capacity: dedupe.capacity, errorRate: dedupe.errorRate } as const)
      : ({ kind: 'exact' } as const)
  switch (dedupe.scope) {
    case 'run':
      return { scope: 'run', ...kind }
    case 'days':
      return { scope: 'days', days: dedupe.days, spider, ...kind }
    case 'forever':
      return { scope: 'forever', spider, ...kind }
  }
}
