import { Cron } from 'croner'
import { sentence, UserError } from '../../core/errors'

/**
 * When a cron expression fires, in a time zone, across changes of its clock:
 *
 * - **Gap** (the clock jumps ahead): what was due inside it fires at the first instant after it, once, however many of its
 *   times fell inside.
 * - **Fold** (the clock goes back): a time that comes twice fires the first time only.
 * - An expression whose hour field is `*` means intervals, not times of day: it fires through a fold at every real
 *   interval, and nothing is made up for a gap, in which no such interval ended.
 *
 * croner matches the fields, always in UTC, that is on a clock that never changes; this file puts its times on the zone's
 * clock. (Its own handling of zones is right for one time a day, but fires lists such as `0,30 2 * * *` twice in a fold
 * and not at all in a gap.)
 */
const DAY_MS = 86_400_000

/** Nine years hold a 29 February even around 2100: beyond that an expression such as `0 0 30 2 *` never fires. */
const NEVER_MS = 9 * 366 * DAY_MS

/**
 * The next `count` instants after `after` at which `cron` (5 fields, or 6 with seconds first; or `@daily` and the like) is due.
 * Fewer when it is not due again. @throws UserError for a wrong expression or zone.
 */
export function nextFires(cron: string, zone: string, after: Date, count: number): Date[] {
  const fires: Date[] = []
  for (const instant of firesAfter(parse(cron), checkZone(zone), after.getTime())) {
    fires.push(new Date(instant))
    if (fires.length >= count) break
  }
  return fires
}

/** Refuses what can't be a schedule. @throws UserError naming the expression or zone, its fault and the remedy. */
export function checkCron(cron: string, zone: string): void {
  parse(cron)
  checkZone(zone)
}

interface Pattern {
  /** First match after an instant, on a clock that shows UTC; null when there is none. */
  next(wall: number): number | null
  /** Whether each hour of the day matches as `*`. */
  everyHour: boolean
}

function parse(cron: string): Pattern {
  let matcher: Cron
  try {
    matcher = new Cron(cron, { timezone: 'UTC', paused: true, mode: '5-or-6-parts' })
  } catch (error) {
    throw new UserError(
      `The cron expression "${cron}" is not usable (${sentence(error).replace(/^CronPattern: /, '')}); write five fields such as "30 2 * * *", or six with seconds first.`,
      { code: 'cron_malformed', values: { cron } },
    )
  }
  const fields = cron.trim().split(/\s+/)
  const hour = fields.at(-4) ?? ''
  return {
    next: (wall) => matcher.nextRun(new Date(wall))?.getTime() ?? null,
    everyHour: /^\*(\/1)?$/.test(hour) || /^@hourly$/i.test(cron.trim()),
  }
}

function checkZone(zone: string): string {
  try {
    clock(zone)
    return zone
  } catch {
    throw new UserError(`"${zone}" is not an IANA time zone; write one such as Asia/Shanghai or UTC.`, {
      code: 'zone_unknown',
      values: { zone },
    })
  }
}

/** Instants in rising order, each once. Walks the stretches of time in which the zone's offset stays the same. */
function* firesAfter(pattern: Pattern, zone: string, after: number): Generator<number> {
  const until = after + NEVER_MS
  const began = lastChange(zone, after)
  let offset = offsetAt(zone, after)
  let since = after
  /** What the clock shows where the search goes on: times after this only. */
  let low = Math.max(after + offset, began ? beginOf(began, pattern) : Number.NEGATIVE_INFINITY)
  for (;;) {
    const change = nextChange(zone, since, until)
    const end = change?.at ?? until
    for (let wall = pattern.next(low); wall !== null && wall - offset < end; wall = pattern.next(wall)) {
      low = wall
      yield wall - offset
    }
    if (!change) return
    since = change.at
    low = beginOf(change, pattern)
    if (skipsOne(change, pattern)) {
      yield change.at
      low = change.at + change.after
    }
    offset = change.after
  }
}

/** Where the search begins after a change of the clock: times after this, as the clock shows them. */
function beginOf({ at, before, after }: Change, { everyHour }: Pattern): number {
  const isFold = before > after
  // The fold's times have been due before it, unless they are intervals.
  return (isFold && !everyHour ? at + before : at + after) - 1
}

/** Whether a time of day falls into the gap of a change. */
function skipsOne({ at, before, after }: Change, { everyHour, next }: Pattern): boolean {
  if (everyHour || after <= before) return false
  const skipped = next(at + before - 1)
  return skipped !== null && skipped < at + after
}

/** A change of a zone's clock: offsets from UTC in ms before `at` and from then on. */
interface Change {
  at: number
  before: number
  after: number
}

function nextChange(zone: string, after: number, until: number): Change | undefined {
  for (let year = new Date(after).getUTCFullYear(); year <= new Date(until).getUTCFullYear(); year++) {
    const change = changesIn(zone, year).find(({ at }) => at > after)
    if (change) return change.at < until ? change : undefined
  }
  return undefined
}

/** The last change at or before an instant, looking back a few days: an older one has no bearing any more. */
function lastChange(zone: string, instant: number): Change | undefined {
  const years = [new Date(instant - 3 * DAY_MS).getUTCFullYear(), new Date(instant).getUTCFullYear()]
  return [...new Set(years)]
    .flatMap((year) => changesIn(zone, year))
    .filter(({ at }) => at <= instant)
    .at(-1)
}

const known = new Map<string, Change[]>()

/** The changes of a zone's clock in a year (UTC), found by looking at each day and halving those that differ. */
function changesIn(zone: string, year: number): Change[] {
  const key = `${zone} ${year}`
  const cached = known.get(key)
  if (cached) return cached
  const changes: Change[] = []
  const end = Date.UTC(year + 1, 0, 1)
  let before = offsetAt(zone, Date.UTC(year, 0, 1) - 1000)
  for (let day = Date.UTC(year, 0, 1) - 1000; day < end - 1000; day += DAY_MS) {
    const next = Math.min(day + DAY_MS, end - 1000)
    const after = offsetAt(zone, next)
    if (after !== before) {
      let [low, high] = [day, next]
      while (high - low > 1000) {
        const middle = low + Math.floor((high - low) / 2000) * 1000
        if (offsetAt(zone, middle) === before) low = middle
        else high = middle
      }
      changes.push({ at: high, before, after })
      before = after
    }
  }
  if (known.size > 1000) known.clear()
  known.set(key, changes)
  return changes
}

/** Milliseconds that the zone's clock is ahead of UTC at an instant. */
function offsetAt(zone: string, instant: number): number {
  const shown: Record<string, number> = {}
  for (const { type, value } of clock(zone).formatToParts(instant)) shown[type] = Number(value)
  const { year, month, day, hour, minute, second } = shown
  return Date.UTC(year!, month! - 1, day, hour, minute, second) - Math.floor(instant / 1000) * 1000
}

const clocks = new Map<string, Intl.DateTimeFormat>()

function clock(zone: string): Intl.DateTimeFormat {
  const made =
    clocks.get(zone) ??
    new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  clocks.set(zone, made)
  return made
}
