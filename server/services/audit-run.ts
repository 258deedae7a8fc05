import { readShares } from '../../core/queue/hosts'
import { startUrls } from '../../core/spider'
import { hostKey, urlHash, urlId, webUrl } from '../../core/url'
import type { Services } from '../context'
import { select } from '../db'
import { currentEpoch } from './epoch'
import { ENDED, getRun, type RunRow } from './runs'
import { storedSeeds } from './seed-rows'
import { storedLinks } from './stored-pages'

export interface AuditCheck {
  name: string
  ok: boolean
  /** What was compared, with the numbers; on a violation the first URLs that break it. */
  detail: string
}

const CHUNK = 500
/** Violations that are told one by one. */
const NAMED = 5

/**
 * Checks a run against its invariants, in the dispatcher as far as that still knows the run and in the record in any case. Sound
 * while nobody works on the run; during a crawl a page on its way from Redis to the record may show as a difference.
 * @throws UserError when there is no such run.
 */
export async function auditRun(s: Services, id: number): Promise<{ ok: boolean; checks: AuditCheck[] }> {
  const run = await getRun(s, id)
  const counts = await s.queue(run.queue).counts(id)
  const inRedis = counts.admitted > 0
  const checks = [
    await conservation(s, run, inRedis),
    await outcomes(s, run, inRedis && !ENDED.includes(run.state) ? counts : run),
    await tokens(s, run),
    await coverage(s, run, 'seed', seedUrls(s, run), inRedis),
    await coverage(s, run, 'link', linkUrls(s, run), inRedis),
  ]
  return { ok: checks.every((check) => check.ok), checks }
}

/** I1–I4: every URL is in exactly one state, and the counters say the same as the indexes. */
async function conservation(s: Services, run: RunRow, inRedis: boolean): Promise<AuditCheck> {
  const name = 'Every URL is counted once'
  const sum = run.done + run.failed + run.ignored + run.cancelled
  if (ENDED.includes(run.state) && run.admitted !== sum)
    return { name, ok: false, detail: `${run.admitted} admitted, but ${sum} ended, says the record` }
  if (!inRedis)
    return { name, ok: true, detail: `${run.admitted} admitted, ${sum} ended (Redis has let go of the run)` }
  const { inbox, pending, running, retry } = await s.queue(run.queue).lengths()
  const atRest = inbox + pending + running + retry === 0
  const { violations, runs } = await s.queue(run.queue).audit(atRest)
  const detail =
    violations.slice(0, NAMED).join('; ') ||
    `${runs.get(run.id)?.admitted ?? 0} admitted, all accounted for in Redis`
  return { name, ok: violations.length === 0, detail }
}

/** I5: the record has a row for each outcome that is counted; while the run goes on it may be ahead, never behind. */
async function outcomes(
  s: Services,
  run: RunRow,
  counted: Record<(typeof STATES)[number], number>,
): Promise<AuditCheck> {
  const found = await select<{ state: string; n: number }>(
    s.database.pool,
    'SELECT state, COUNT(*) AS n FROM pages WHERE run_id = ? GROUP BY state',
    [run.id],
  )
  const stored = (state: string) => found.find((row) => row.state === state)?.n ?? 0
  const ok = STATES.every((state) => {
    if (run.state === 'finished') return stored(state) === counted[state]
    // A dead letter gets its row a moment after it is counted; and what a cancelled run had under way may be stored.
    return stored(state) >= counted[state] || (state === 'failed' && !ENDED.includes(run.state))
  })
  const detail = STATES.map((state) => `${state}: ${counted[state]} counted, ${stored(state)} stored`).join(
    '; ',
  )
  return { name: 'Every outcome is stored', ok, detail }
}

const STATES = ['done', 'failed', 'ignored'] as const

/** I6: no two pages were stored under one lease, and none under a lease of an epoch that has not begun. */
async function tokens(s: Services, run: RunRow): Promise<AuditCheck> {
  const { epoch } = await currentEpoch(s)
  // Without a token: dead letters, which the scheduler records.
  const [row] = await select<{ rows: number; tokens: number; highest: string | null }>(
    s.database.pool,
    "SELECT COUNT(*) AS `rows`, COUNT(DISTINCT token) AS tokens, MAX(token) AS highest FROM pages WHERE run_id = ? AND token <> ''",
    [run.id],
  )
  const { rows, tokens: distinct, highest } = row!
  const newest = Number(highest?.split('.')[0] ?? 0)
  return {
    name: 'Every page was stored under a lease of its own',
    ok: rows === distinct && newest <= epoch,
    detail: `${rows} pages, ${distinct} leases, epoch ${newest} of ${epoch}`,
  }
}

/**
 * I7: every seed, and every in-scope link of every stored page, was admitted, and has its outcome once the run has ended.
 * Conservation alone can't see a link that was lost on the way.
 */
async function coverage(
  s: Services,
  run: RunRow,
  what: string,
  urls: AsyncIterable<string[]>,
  inRedis: boolean,
): Promise<AuditCheck> {
  let total = 0
  const unseen: string[] = []
  const without: string[] = []
  for await (const some of chunked(urls)) {
    total += some.length
    if (inRedis) unseen.push(...(await notSeen(s, run, some)))
    if (run.state === 'finished') without.push(...(await notStored(s, run, some)))
  }
  const name = `Every ${what} was admitted`
  const { maxPages, maxPagesPerHost = null, dedupe } = run.definition
  const missing = new Set([...unseen, ...without]).size
  const detail = `${total} ${what}s, ${missing === 0 ? 'none' : missing} missing`
  if (missing === 0) return { name, ok: true, detail }
  if (maxPages !== null && run.admitted >= maxPages)
    return { name, ok: true, detail: `${detail}: over the limit of ${maxPages} pages` }
  if (
    maxPagesPerHost !== null &&
    (!inRedis || (await overShare(s, run, maxPagesPerHost, [...unseen, ...without])))
  )
    return { name, ok: true, detail: `${detail}: over the limit of ${maxPagesPerHost} pages a host` }
  if (unseen.length === 0) {
    if (without.length <= run.cancelled) return { name, ok: true, detail: `${detail}: cancelled one by one` }
    if (dedupe.scope !== 'run')
      return { name, ok: true, detail: `${detail} from this run: an earlier one had them` }
    if (dedupe.kind === 'bloom' && without.length <= 10 + 3 * dedupe.errorRate * total)
      return { name, ok: true, detail: `${detail}: within the error rate of the filter` }
  }
  return {
    name,
    ok: false,
    detail: `${detail}, for instance ${[...unseen, ...without].slice(0, NAMED).join(' ')}`,
  }
}

/** Whether the run has all that it takes of the hosts of these URLs. */
async function overShare(s: Services, run: RunRow, most: number, urls: string[]): Promise<boolean> {
  const hosts = [...new Set(urls.map((url) => hostKey(url)))]
  for (let from = 0; from < hosts.length; from += CHUNK) {
    const shares = await readShares(s.queue(run.queue), run.id, hosts.slice(from, from + CHUNK))
    if (shares.some((taken) => taken < most)) return false
  }
  return true
}

async function* seedUrls(s: Services, run: RunRow): AsyncGenerator<string[]> {
  if (!run.ownSeeds) yield startUrls(run.definition).map((url) => webUrl(url))
  for (let cursor = 0; ; ) {
    const rows = await storedSeeds(s.database.pool, run, cursor)
    if (rows.length === 0) return
    // Those of the spider count if they were there when the run began.
    yield rows.filter((seed) => run.ownSeeds || seed.since < run.createdAt).map(({ url }) => url)
    cursor = rows.at(-1)!.id
  }
}

async function* linkUrls(s: Services, run: RunRow): AsyncGenerator<string[]> {
  for await (const pages of storedLinks(s, run.id))
    for (const { links } of pages) yield links.map(({ url }) => url)
}

async function* chunked(lists: AsyncIterable<string[]>): AsyncGenerator<string[]> {
  let rest: string[] = []
  for await (const list of lists) {
    rest = [...rest, ...list]
    while (rest.length >= CHUNK) yield rest.splice(0, CHUNK)
  }
  if (rest.length > 0) yield rest
}

async function notSeen(s: Services, run: RunRow, urls: string[]): Promise<string[]> {
  const ids = new Map(urls.map((url) => [urlId(url, run.definition.identity), url]))
  return (await s.queue(run.queue).unseen(run.id, [...ids.keys()])).map((id) => ids.get(id)!)
}

async function notStored(s: Services, run: RunRow, urls: string[]): Promise<string[]> {
  const hashes = new Map(urls.map((url) => [urlHash(url, run.definition.identity).toString('hex'), url]))
  const rows = await select<{ hash: Buffer }>(
    s.database.pool,
    'SELECT url_hash AS hash FROM pages WHERE run_id = ? AND url_hash IN (?)',
    [run.id, [...hashes.keys()].map((hex) => Buffer.from(hex, 'hex'))],
  )
  for (const { hash } of rows) hashes.delete(hash.toString('hex'))
  return [...hashes.values()]
}
