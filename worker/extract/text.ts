/** Bytes of UTF-8 that one field of text may have; what is longer is cut there. */
export const MAX_FIELD_BYTES = 1_048_576

/** Runs of white space (HTML's and Unicode's) as one blank each, none at the ends. */
export function collapse(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/**
 * Text that any database and JSON reader takes: no NUL (HTML parsers drop it too), U+FFFD for half of a surrogate pair, and
 * not over `MAX_FIELD_BYTES`, cut between characters.
 */
export function storable(text: string): string {
  const whole = wellFormed(text)
  if (whole.length * 3 <= MAX_FIELD_BYTES) return whole
  const { read } = new TextEncoder().encodeInto(whole, new Uint8Array(MAX_FIELD_BYTES))
  return whole.slice(0, read)
}

function wellFormed(text: string): string {
  // Nearly all text has neither, and looking is far cheaper than replacing.
  return /[\0\p{Surrogate}]/u.test(text) ? text.replace(/\0/g, '').replace(/\p{Surrogate}/gu, '\uFFFD') : text
}

/** The first `count` characters (code points, not UTF-16 halves). */
export function firstCharacters(text: string, count: number): string {
  if (text.length <= count) return text
  let end = 0
  for (let n = 0; n < count && end < text.length; n++) end += text.codePointAt(end)! > 0xffff ? 2 : 1
  return text.slice(0, end)
}
