const formats = new Map<string, Intl.DateTimeFormat>()

/**
 * Milliseconds since 1970 of a local time, written `2024-05-06T12:30:00`, in an IANA zone. Of an hour that comes twice the
 * first counts; a time that is left out is taken as if the clock had not been changed yet.
 */
export function instantIn(zone: string, local: string): number {
  const wall = Date.parse(`${local}Z`)
  const before = wall - offsetAt(zone, wall - 86_400_000)
  if (before + offsetAt(zone, before) === wall) return before
  const after = wall - offsetAt(zone, wall + 86_400_000)
  return after + offsetAt(zone, after) === wall ? after : before
}

/** Milliseconds that a zone is ahead of UTC at an instant (whole seconds). */
function offsetAt(zone: string, instant: number): number {
  const parts = Object.fromEntries(
    formatOf(zone)
      .formatToParts(instant)
      .map(({ type, value }) => [type, Number(value)]),
  )
  return (
    Date.UTC(parts.year!, parts.month! - 1, parts.day!, parts.hour!, parts.minute!, parts.second!) - instant
  )
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  let format = formats.get(timeZone)
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    // Zones are the spiders' to choose, some hundred at most.
    formats.set(timeZone, format)
  }
  return format
}
