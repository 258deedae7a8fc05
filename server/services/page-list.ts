import { OUTCOMES } from '../../core/queue/states'
import type { Services } from '../context'
import { select } from '../db'
import { type Condition, filterCondition, type PageFilter } from './page-filter'

export interface PageView {
  /** SHA-256 of the canonical URL, hex. */
  hash: string
  url: string
  state: (typeof OUTCOMES)[number]
  reason: string | null
  detail: string | null
  status: number | null
  title: string | null
  depth: number
  ms: number | null
  bytes: number | null
  attempts: number
  items: number
  /** ms since 1970. */
  fetchedAt: number
}

/** Where a list of pages goes on: after the row of this time (ms), items and hash, as every index of it is sorted. */
export interface TimeCursor {
  at: number
  items: number
  hash: string
}
/** The same for a list that goes by the key, and has no order of time. */
export interface KeyCursor {
  hash: string
}
export type PageCursor = TimeCursor | KeyCursor

/** `step`: rows looked through by one statement; `ms`: when to answer with what was found; `few`: see `planOf`. */
interface Bounds {
  ms?: number
  step?: number
  few?: number
}
const STEP = 5_000
const FEW = 20_000
const NEWEST_FIRST = 'ORDER BY fetched_at DESC, items DESC, url_hash DESC'
const COLUMNS =
  'url_hash AS hash, url, state, reason, detail, status, title, depth, ms, bytes, attempts, items, fetched_at AS fetchedAt'

/** A stretch of an index that holds pages newest first: those of the run with this value. */
interface Lane {
  column: 'state' | 'host' | 'status' | 'depth' | 'reason'
  value: unknown
}
interface Plan {
  /** Empty: by the key. */
  lanes: Lane[]
  /** What is looked for row by row. */
  rest: Condition
}

/**
 * Pages of a run that ended, newest first; only a search that has to look through most of the run goes by the key (see
 * `planOf`). After `ms` this answers with what was found so far: then `next` is there with less than a page. `looked` says
 * how many rows it has looked through, `null` where it had not to.
 */
export async function listPages(
  s: Services,
  input: { run: number; filter: PageFilter; after?: PageCursor | undefined; limit: number },
  { ms = 200, step = STEP, few = FEW }: Bounds = {},
): Promise<{ pages: PageView[]; next: PageCursor | null; looked: number | null; newestFirst: boolean }> {
  const { run, limit } = input
  const plan = await planOf(s, run, input.filter, few, input.after)
  const newestFirst = plan.lanes.length > 0
  const until = performance.now() + ms
  const found: PageView[] = []
  let after = input.after
  let looked = plan.rest.text === '' ? null : 0
  for (;;) {
    const { end, many } =
      looked === null ? { end: undefined, many: 0 } : await nextStep(s, run, plan, after, step)
    found.push(...(await readStep(s, run, plan, after, end, limit + 1)))
    if (looked !== null) looked += many
    if (found.length > limit) {
      const pages = found.slice(0, limit)
      const { fetchedAt: at, items, hash } = pages.at(-1)!
      return { pages, next: newestFirst ? { at, items, hash } : { hash }, looked, newestFirst }
    }
    if (end === undefined) return { pages: found, next: null, looked, newestFirst }
    after = end
    if (performance.now() >= until) return { pages: found, next: after, looked, newestFirst }
  }
}

/**
 * How many pages of a run answer to a filter.
 * @returns `whole` is false when counting took longer than `ms`: then there are at least as many.
 */
export async function countPages(
  s: Services,
  run: number,
  filter: PageFilter,
  { ms = 2_000, step = STEP, few = FEW }: Bounds = {},
): Promise<{ many: number; whole: boolean }> {
  const plan = await planOf(s, run, filter, few, undefined)
  const until = performance.now() + ms
  let many = 0
  for (let after: PageCursor | undefined; ; ) {
    const { end } = await nextStep(s, run, plan, after, step)
    many += await countStep(s, run, plan, after, end)
    if (end === undefined) return { many, whole: true }
    after = end
    if (performance.now() >= until) return { many, whole: false }
  }
}

/** The values that a filter of this run can name; of each the first hundred. */
export async function pageFacets(
  s: Services,
  run: number,
): Promise<{ hosts: string[]; statuses: number[]; reasons: string[] }> {
  const [hosts, statuses, reasons] = await Promise.all([
    valuesOf<string>(s, run, 'host'),
    valuesOf<number>(s, run, 'status'),
    valuesOf<string>(s, run, 'reason'),
  ])
  return { hosts, statuses, reasons }
}

const FACETS = 100

/** From one value to the next by the index. SELECT DISTINCT would read every page of the run. */
async function valuesOf<T extends string | number>(
  s: Services,
  run: number,
  column: Lane['column'],
): Promise<T[]> {
  const found: T[] = []
  while (found.length < FACETS) {
    const [row] = await select<{ value: T }>(
      s.database.pool,
      `SELECT ${column} AS value FROM pages FORCE INDEX (pages_${column}) WHERE run_id = ? AND ${column} > ? ORDER BY ${column} LIMIT 1`,
      [run, found.at(-1) ?? (column === 'status' ? -1 : '')],
    )
    if (!row) break
    found.push(row.value)
  }
  return found
}

/**
 * The way to what a filter asks for: through the index of whichever of its values the fewest pages have; without one, through
 * the three states. A part of a URL is in no index. When more than `few` pages would have to be looked through for it, they
 * are read by the key, as they lie on the disk: that is some thirty times as fast as fetching each from an index. A list goes
 * on as it began, which its cursor tells.
 */
async function planOf(
  s: Services,
  run: number,
  filter: PageFilter,
  few: number,
  after: PageCursor | undefined,
): Promise<Plan> {
  const given: Lane[] = (['state', 'host', 'status', 'depth', 'reason'] as const).flatMap((column) =>
    filter[column] === undefined ? [] : [{ column, value: filter[column] }],
  )
  const byKey = { lanes: [], rest: filterCondition(filter) }
  if (after && !('at' in after)) return byKey
  const searching = filter.url !== undefined
  const all: Lane[] = OUTCOMES.map((value) => ({ column: 'state', value }))
  if (given.length === 0 && !searching) return { lanes: all, rest: filterCondition({}) }
  if (given.length === 1 && !searching) return { lanes: given, rest: filterCondition({}) }
  const many = await Promise.all(
    (given.length > 0 ? given : all).map(async ({ column, value }) => {
      const [row] = await select<{ many: number }>(
        s.database.pool,
        `SELECT COUNT(*) AS many FROM (SELECT 1 FROM pages FORCE INDEX (pages_${column}) WHERE run_id = ? AND ${column} = ? LIMIT ?) AS few`,
        [run, value, few + 1],
      )
      return row!.many
    }),
  )
  if (given.length === 0)
    return searching && !after && many.reduce((sum, one) => sum + one, 0) > few
      ? byKey
      : { lanes: all, rest: filterCondition(filter) }
  const fewest = Math.min(...many)
  if (searching && !after && fewest > few) return byKey
  const lane = given[many.indexOf(fewest)]!
  return { lanes: [lane], rest: filterCondition(filter, lane.column) }
}

/**
 * How far the next step goes: no lane has more than `size` rows up to there.
 * @returns `end` is undefined when the step goes to the end of the run; `many` rows lie in it.
 */
async function nextStep(
  s: Services,
  run: number,
  plan: Plan,
  after: PageCursor | undefined,
  size: number,
): Promise<{ end: PageCursor | undefined; many: number }> {
  const whole = { ...plan, rest: filterCondition({}) }
  if (plan.lanes.length === 0) {
    const within = keyStretch(run, after, undefined)
    // Rows that lie side by side cost a tenth.
    const [row] = await select<{ hash: Buffer }>(
      s.database.pool,
      `SELECT url_hash AS hash FROM pages FORCE INDEX (PRIMARY) WHERE ${within.text} ORDER BY url_hash LIMIT 1 OFFSET ${size * 4 - 1}`,
      within.values,
    )
    if (row) return { end: { hash: row.hash.toString('hex') }, many: size * 4 }
    return { end: undefined, many: await countStep(s, run, whole, after, undefined) }
  }
  const ends = await Promise.all(
    plan.lanes.map(async (lane) => {
      const within = stretch(run, lane, after as TimeCursor | undefined, undefined)
      const [row] = await select<{ fetchedAt: Date; items: number; hash: Buffer }>(
        s.database.pool,
        `SELECT fetched_at AS fetchedAt, items, url_hash AS hash FROM pages FORCE INDEX (pages_${lane.column}) WHERE ${within.text} ${NEWEST_FIRST} LIMIT 1 OFFSET ${size - 1}`,
        within.values,
      )
      return row && { at: row.fetchedAt.getTime(), items: row.items, hash: row.hash.toString('hex') }
    }),
  )
  const end = ends
    .filter((one) => one !== undefined)
    .sort(byTime)
    .at(0)
  return { end, many: await countStep(s, run, whole, after, end) }
}

async function countStep(
  s: Services,
  run: number,
  { lanes, rest }: Plan,
  after: PageCursor | undefined,
  end: PageCursor | undefined,
): Promise<number> {
  const parts = await Promise.all(
    ways(run, lanes, after, end).map(({ index, text, values }) =>
      select<{ many: number }>(
        s.database.pool,
        `SELECT COUNT(*) AS many FROM pages FORCE INDEX (${index}) WHERE ${text}${rest.text}`,
        [...values, ...rest.values],
      ),
    ),
  )
  return parts.reduce((sum, [row]) => sum + row!.many, 0)
}

async function readStep(
  s: Services,
  run: number,
  { lanes, rest }: Plan,
  after: PageCursor | undefined,
  end: PageCursor | undefined,
  limit: number,
): Promise<PageView[]> {
  type Row = Omit<PageView, 'hash' | 'fetchedAt'> & { hash: Buffer; fetchedAt: Date }
  const parts = await Promise.all(
    ways(run, lanes, after, end).map(({ index, text, values }) =>
      select<Row>(
        s.database.pool,
        `SELECT ${COLUMNS} FROM pages FORCE INDEX (${index}) WHERE ${text}${rest.text} ${lanes.length > 0 ? NEWEST_FIRST : 'ORDER BY url_hash'} LIMIT ?`,
        [...values, ...rest.values, limit],
      ),
    ),
  )
  const rows = parts.flat().map(({ hash, fetchedAt, ...row }) => ({
    ...row,
    hash: hash.toString('hex'),
    fetchedAt: fetchedAt.getTime(),
  }))
  const at = ({ fetchedAt, items, hash }: PageView) => ({ at: fetchedAt, items, hash })
  return lanes.length > 1 ? rows.sort((a, b) => byTime(at(a), at(b))) : rows
}

function ways(
  run: number,
  lanes: Lane[],
  after: PageCursor | undefined,
  end: PageCursor | undefined,
): (Condition & { index: string })[] {
  if (lanes.length === 0) return [{ index: 'PRIMARY', ...keyStretch(run, after, end) }]
  return lanes.map((lane) => ({
    index: `pages_${lane.column}`,
    ...stretch(run, lane, after as TimeCursor | undefined, end as TimeCursor | undefined),
  }))
}

function keyStretch(run: number, after: KeyCursor | undefined, end: KeyCursor | undefined): Condition {
  const hash = (cursor: KeyCursor) => Buffer.from(cursor.hash, 'hex')
  return {
    text: `run_id = ?${after ? ' AND url_hash > ?' : ''}${end ? ' AND url_hash <= ?' : ''}`,
    values: [run, ...(after ? [hash(after)] : []), ...(end ? [hash(end)] : [])],
  }
}

/** Rows of a lane older than `after`, down to and with `end`. The first comparison of each bounds the range in the index. */
function stretch(
  run: number,
  { column, value }: Lane,
  after: TimeCursor | undefined,
  end: TimeCursor | undefined,
): Condition {
  const text = [`run_id = ? AND ${column} = ?`]
  const values: unknown[] = [run, value]
  for (const [cursor, strictly, last] of [
    [after, '<', '<'],
    [end, '>', '>='],
  ] as const) {
    if (!cursor) continue
    const at = new Date(cursor.at)
    text.push(
      `fetched_at ${strictly}= ? AND (fetched_at ${strictly} ? OR items ${strictly} ? OR (items = ? AND url_hash ${last} ?))`,
    )
    values.push(at, at, cursor.items, cursor.items, Buffer.from(cursor.hash, 'hex'))
  }
  return { text: text.join(' AND '), values }
}

function byTime(a: TimeCursor, b: TimeCursor): number {
  return b.at - a.at || b.items - a.items || (a.hash < b.hash ? 1 : -1)
}
