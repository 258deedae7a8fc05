/** Segments of a path, or occurrences of one, beyond which no person has made it. */
const MOST_SEGMENTS = 64
const MOST_OCCURRENCES = 3

/**
 * Whether the path of a URL looks like one that a site makes without end: the same segments three times in a row
 * (`/a/b/a/b/a/b`), one segment with a letter four times anywhere, or more than 64 segments.
 */
export function isTrap(url: string): boolean {
  const start = url.indexOf('/', url.indexOf('//') + 2)
  const path = url.slice(start + 1).split(/[?#]/, 1)[0]!
  const segments = path.split('/').filter(Boolean)
  if (segments.length < 3) return false
  if (segments.length > MOST_SEGMENTS) return true
  const counts = new Map<string, number>()
  for (const segment of segments) counts.set(segment, (counts.get(segment) ?? 0) + 1)
  for (const [segment, count] of counts) if (count > MOST_OCCURRENCES && /[^\d.-]/.test(segment)) return true
  return repeats(segments)
}

function repeats(segments: string[]): boolean {
  for (let length = 1; length * 3 <= segments.length; length++) {
    let run = 0
    for (let at = length; at < segments.length; at++) {
      run = segments[at] === segments[at - length] ? run + 1 : 0
      // `/0/0/0` is a tile of a map.
      if (
        run === 2 * length &&
        segments.slice(at - length + 1, at + 1).some((segment) => /[^\d.-]/.test(segment))
      )
        return true
    }
  }
  return false
}
