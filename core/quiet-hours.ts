/** Hours of the day in which no page is begun; with `to` before `from` they go past midnight. */
export interface QuietHours {
  /** Times of day such as `22:30`. */
  from: string
  to: string
  /** IANA time zone in which both are meant. */
  zone: string
}

const MINUTE_MS = 60_000
const DAY_MINUTES = 1440

/** When the quiet hours that `now` (ms since 1970) lies in end; null outside of them. */
export function quietUntil(quiet: QuietHours | null | undefined, now: number): number | null {
  if (!quiet) return null
  const from = minutesOf(quiet.from)
  const length = (minutesOf(quiet.to) - from + DAY_MINUTES) % DAY_MINUTES
  const gone = (minuteOfDay(now, quiet.zone) - from + DAY_MINUTES) % DAY_MINUTES
  if (gone >= length) return null
  const end = (Math.floor(now / MINUTE_MS) + length - gone) * MINUTE_MS
  // The clock may be put forward or back in between.
  const off = minuteOfDay(end, quiet.zone) - minutesOf(quiet.to)
  return end - (Math.abs(off) > DAY_MINUTES / 2 ? off - Math.sign(off) * DAY_MINUTES : off) * MINUTE_MS
}

function minutesOf(text: string): number {
  const [hours, minutes] = text.split(':').map(Number)
  return hours! * 60 + minutes!
}

const clocks = new Map<string, Intl.DateTimeFormat>()

function minuteOfDay(at: number, zone: string): number {
  const clock =
    clocks.get(zone) ??
    new Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
  clocks.set(zone, clock)
  return minutesOf(clock.format(at))
}
