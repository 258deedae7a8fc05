import { type SeedScope, seedScope } from '../core/scope'
import type { Spider } from '../core/spider'
import type { CompiledSpider } from './extract/compile-spider'
import { compileSpider } from './extract/compile-spider'
import type { RunRecord } from './sink/runs'

/** What a visit needs to know of its run. */
export interface CrawlRun {
  id: number
  spiderId: number
  spider: CompiledSpider
  seeds: SeedScope
  /** Id of the spider's run before. */
  previous: number | null
}

/** What holds for every run of a worker, whatever its spider says. */
export interface Installation {
  allowPrivate: boolean
  ignoreRobots: boolean
}

const RUNS_KEPT = 100

/** Runs by id, compiled once. A run's definition never changes; its seeds may grow, which `SeedScope` allows for. */
export class RunCache {
  #runs = new Map<number, Promise<CrawlRun>>()

  constructor(
    private readonly read: (id: number) => Promise<RunRecord | null>,
    private readonly installation: Installation,
  ) {}

  of(id: number): Promise<CrawlRun> {
    const known = this.#runs.get(id)
    if (known) return known
    const run = this.#load(id)
    if (this.#runs.size >= RUNS_KEPT) this.#runs.delete(this.#runs.keys().next().value!)
    this.#runs.set(id, run)
    run.catch(() => this.#runs.delete(id))
    return run
  }

  async #load(id: number): Promise<CrawlRun> {
    const record = await this.read(id)
    if (!record)
      throw new Error(
        `Run ${id} is in the queue but not in the database; was the database restored from an older backup?`,
      )
    const spider = compileSpider(inForce(record.definition, this.installation))
    const { spiderId, seeds, previous } = record
    return { id, spiderId, spider, seeds: seedScope(seeds), previous }
  }
}

/** The spider as this worker obeys it. */
export function inForce(spider: Spider, { allowPrivate, ignoreRobots }: Installation): Spider {
  return {
    ...spider,
    allowPrivate: spider.allowPrivate || allowPrivate,
    robots: ignoreRobots ? 'ignore' : spider.robots,
  }
}
