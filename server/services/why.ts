import { and, desc, eq } from 'drizzle-orm'
import { UserError } from '../../core/errors'
import { type DelaySource, delayInForce } from '../../core/queue/delay-in-force'
import { listHoldings, readHost, readShares, readStanding, type Standing } from '../../core/queue/hosts'
import type { OutcomeState } from '../../core/queue/states'
import { quietUntil } from '../../core/quiet-hours'
import { compileFollow, seedScope } from '../../core/scope'
import { startUrls } from '../../core/spider'
import { hostKey, urlHash, urlId, webUrl } from '../../core/url'
import { runs } from '../../drizzle/schema/crawl'
import { pages } from '../../drizzle/schema/pages'
import type { Services } from '../context'
import { select } from '../db'
import { getQueue, type QueueRow } from './queues'
import { getRun, type RunRow } from './runs'

/** One thing that keeps a URL where it is: which limit, who holds it, since or until when. Times are ms since 1970. */
export type Cause =
  | { kind: 'paused'; since: number | null; by: string | null }
  | { kind: 'quiet'; until: number; zone: string }
  | { kind: 'draining'; since: number | null; by: string | null }
  | { kind: 'noWorker'; lastSeen: number | null }
  | { kind: 'maxRunning'; limit: number; running: number }
  | { kind: 'held'; host: string; until: number }
  | { kind: 'delay'; host: string; until: number; delayMs: number; source: DelaySource }
  | {
      kind: 'hostFull'
      host: string
      limit: number
      holders: { worker: string | null; url: string; since: number }[]
    }
  | { kind: 'ahead'; host: string; many: number }
  | { kind: 'next' }
  | { kind: 'running'; worker: string | null; since: number; until: number | null }
  | { kind: 'retry'; due: number; attempts: number }
  | {
      kind: 'ended'
      state: OutcomeState
      at: number
      reason: string | null
      status: number | null
      detail: string | null
    }
  | { kind: 'cancelled' }
  | { kind: 'runState'; state: RunRow['state'] }
  | { kind: 'seedWaits' }
  | { kind: 'pattern' }
  | { kind: 'scope'; scope: string }
  | { kind: 'full'; maxPages: number }
  | { kind: 'hostBudget'; host: string; maxPages: number }
  | { kind: 'unlinked' }

export interface Why {
  /** As it is fetched. */
  url: string
  run: number
  state: Standing['state'] | OutcomeState | 'cancelled' | 'unknown'
  causes: Cause[]
}

/** Runs of a queue that are asked for a URL when none is named. */
const RUNS_ASKED = 20
/** Seeds by which a run's scope is told; with more, what the scope would say is left open. */
const SEEDS_READ = 1000

/**
 * Why a URL waits, or what became of it: every limit that keeps it at this moment, the nearest first.
 * @param run absent: the newest run of the queue that knows the URL.
 * @throws UserError for an unknown queue or run, or what is not a URL.
 */
export async function whyWaiting(
  s: Services,
  input: { queue: string; url: string; run?: number | undefined },
): Promise<Why> {
  const queue = await getQueue(s, input.queue)
  const url = webUrl(input.url)
  const candidates = await candidateRuns(s, queue.name, input.run)
  for (const run of candidates) {
    const id = urlId(url, run.definition.identity)
    const standing = await readStanding(s.queue(queue.name), run.id, id)
    if (standing && standing.state !== 'failed')
      return { url, run: run.id, state: standing.state, causes: await open(s, queue, run, standing) }
    const page = await stored(s, run, url)
    if (page) return { url, run: run.id, state: page.state, causes: [page] }
  }
  for (const run of candidates)
    if ((await s.queue(queue.name).unseen(run.id, [urlId(url, run.definition.identity)])).length === 0)
      return { url, run: run.id, state: 'cancelled', causes: [{ kind: 'cancelled' }] }
  const [run] = candidates
  return { url, run: run!.id, state: 'unknown', causes: await notAdmitted(s, queue, run!, url) }
}

async function candidateRuns(s: Services, queue: string, wanted: number | undefined): Promise<RunRow[]> {
  if (wanted !== undefined) {
    const run = await getRun(s, wanted)
    if (run.queue !== queue)
      throw new UserError(`Run ${wanted} is on the queue ${run.queue}; look for its URLs there.`, {
        code: 'run_elsewhere',
        values: { id: wanted, queue: run.queue },
      })
    return [run]
  }
  const found = await s.database.orm
    .select()
    .from(runs)
    .where(eq(runs.queue, queue))
    .orderBy(desc(runs.id))
    .limit(RUNS_ASKED)
  if (found.length === 0)
    throw new UserError(`The queue ${queue} has had no run yet, so nothing can wait in it; start one.`, {
      code: 'queue_no_run',
      values: { queue },
    })
  return found
}

async function stored(
  s: Services,
  run: RunRow,
  url: string,
): Promise<Extract<Cause, { kind: 'ended' }> | null> {
  const [page] = await s.database.orm
    .select({
      state: pages.state,
      at: pages.fetchedAt,
      reason: pages.reason,
      status: pages.status,
      detail: pages.detail,
    })
    .from(pages)
    .where(and(eq(pages.runId, run.id), eq(pages.urlHash, urlHash(url, run.definition.identity))))
  return page ? { kind: 'ended', ...page, at: page.at.getTime() } : null
}

/** What keeps a URL that the frontier holds. */
async function open(s: Services, queue: QueueRow, run: RunRow, standing: Standing): Promise<Cause[]> {
  if (standing.state === 'running')
    return [{ kind: 'running', worker: standing.worker, since: standing.at, until: standing.expiresAt }]
  const causes: Cause[] = []
  if (run.state === 'cancelling') causes.push({ kind: 'runState', state: run.state })
  if (queue.paused) causes.push({ kind: 'paused', ...(await lastChange(s, queue.name, 'queue.pause')) })
  const quiet = quietUntil(queue.quiet, Date.now())
  if (quiet !== null) causes.push({ kind: 'quiet', until: quiet, zone: queue.quiet!.zone })
  causes.push(...(await workersOf(s, queue.name)))
  if (standing.state === 'retry') {
    causes.push({ kind: 'retry', due: standing.at, attempts: standing.attempts })
    return causes
  }
  const { running } = await s.queue(queue.name).lengths()
  if (queue.maxRunning !== null && running >= queue.maxRunning)
    causes.push({ kind: 'maxRunning', limit: queue.maxRunning, running })
  causes.push(...(await hostLimits(s, queue, standing.host)))
  if (standing.ahead > 0) causes.push({ kind: 'ahead', host: standing.host, many: standing.ahead })
  return causes.length > 0 ? causes : [{ kind: 'next' }]
}

async function hostLimits(s: Services, queue: QueueRow, name: string): Promise<Cause[]> {
  const host = await readHost(s.queue(queue.name), name)
  const causes: Cause[] = []
  const now = Date.now()
  const { delayMs, source } = delayInForce(host, queue)
  const limit = delayMs > 0 ? 1 : queue.perHost
  if (host.heldUntil > now) causes.push({ kind: 'held', host: name, until: host.heldUntil })
  if (host.nextAt > now) causes.push({ kind: 'delay', host: name, until: host.nextAt, delayMs, source })
  if (host.running >= limit) {
    const holders = (await listHoldings(s.queue(queue.name), name))
      .slice(0, 20)
      .map(({ worker, url, claimedAt }) => ({ worker, url, since: claimedAt }))
    causes.push({ kind: 'hostFull', host: name, limit, holders })
  }
  return causes
}

async function workersOf(s: Services, queue: string): Promise<Cause[]> {
  const [row] = await select<{ alive: number | null; lastSeen: Date | null }>(
    s.database.pool,
    "SELECT SUM(state = 'running' AND heartbeat_at > UTC_TIMESTAMP(3) - INTERVAL 30 SECOND) AS alive, MAX(heartbeat_at) AS lastSeen FROM workers WHERE queue = ?",
    [queue],
  )
  return Number(row?.alive ?? 0) > 0 ? [] : [{ kind: 'noWorker', lastSeen: row?.lastSeen?.getTime() ?? null }]
}

async function lastChange(
  s: Services,
  queue: string,
  action: string,
): Promise<{ since: number | null; by: string | null }> {
  const [row] = await select<{ at: Date; actor: string }>(
    s.database.pool,
    'SELECT at, actor FROM audit_log WHERE action = ? AND subject = ? ORDER BY at DESC LIMIT 1',
    [action, queue],
  )
  return { since: row?.at.getTime() ?? null, by: row?.actor ?? null }
}

/** Why a run never took the URL in, as far as its rules and numbers tell. */
async function notAdmitted(s: Services, queue: QueueRow, run: RunRow, url: string): Promise<Cause[]> {
  if (run.state === 'seeding' || run.state === 'preparing') {
    const causes: Cause[] = queue.draining
      ? [{ kind: 'draining', ...(await lastChange(s, queue.name, 'queue.drain')) }]
      : []
    return [
      ...causes,
      (await isSeed(s, run, url)) ? { kind: 'seedWaits' } : { kind: 'runState', state: run.state },
    ]
  }
  const { maxPages, maxPagesPerHost = null, follow } = run.definition
  if (maxPages !== null && run.state === 'running') {
    const { admitted } = await s.queue(queue.name).counts(run.id)
    if (admitted >= maxPages) return [{ kind: 'full', maxPages }]
  }
  if (maxPagesPerHost !== null) {
    const host = hostKey(url)
    const [taken] = await readShares(s.queue(queue.name), run.id, [host])
    if (taken! >= maxPagesPerHost) return [{ kind: 'hostBudget', host, maxPages: maxPagesPerHost }]
  }
  if (!compileFollow({ ...follow, scope: 'anywhere', depth: null }).inScope(url, 1, seedScope([]), url))
    return [{ kind: 'pattern' }]
  const seeds = await seedsOf(s, run)
  if (seeds && !compileFollow({ ...follow, depth: null }).inScope(url, 1, seedScope(seeds), seeds[0]!))
    return [{ kind: 'scope', scope: follow.scope }]
  return [{ kind: 'unlinked' }]
}

async function isSeed(s: Services, run: RunRow, url: string): Promise<boolean> {
  const rows = await select(
    s.database.pool,
    'SELECT 1 FROM seeds WHERE spider_id = ? AND run_id = ? AND url_hash = ? LIMIT 1',
    [run.spiderId, run.ownSeeds ? run.id : 0, urlHash(url)],
  )
  return rows.length > 0
}

/** Null when there is none, or more than are worth reading. */
async function seedsOf(s: Services, run: RunRow): Promise<string[] | null> {
  const rows = await select<{ url: string }>(
    s.database.pool,
    `SELECT url FROM seeds WHERE spider_id = ? AND run_id = ? LIMIT ${SEEDS_READ + 1}`,
    [run.spiderId, run.ownSeeds ? run.id : 0],
  )
  const seeds = [...(run.ownSeeds ? [] : startUrls(run.definition)), ...rows.map((row) => row.url)]
  return seeds.length === 0 || seeds.length > SEEDS_READ ? null : seeds
}
