import type { Field } from '../../core/spider'
import { collapse } from './text'
import { instantIn } from './zone'

/** A value of an item. `null`: the text does not hold a value of the field's type. */
export type Value = string | number | boolean | null

/** How a text is to be read: what the field says of its kind. */
type Reading = Pick<Field, 'type' | 'decimal' | 'zone'>

/** Text as a value of a field's type; `base` is what a URL is resolved against. */
export function coerced({ type, decimal, zone }: Reading, text: string, base: string): Value {
  switch (type) {
    case 'text':
    case 'html':
      return text || null
    case 'number':
      return numberOf(text, decimal)
    case 'integer': {
      const number = numberOf(text, decimal)
      return Number.isSafeInteger(number) ? number : null
    }
    case 'boolean':
      return booleanOf(text)
    case 'url':
      return urlOf(text, base)
    case 'date':
      return dateOf(text, zone)
    case 'json':
      return text || null
  }
}

const MULTIPLES: Record<string, number> = { 万: 1e4, 萬: 1e4, 亿: 1e8, 億: 1e8 }
const NUMBER = /(?<![\d.,])([-−+]?)\s*\p{Sc}?\s*([-−]?)(\d[\d.,\s'’٬_]*\d|\d|\.\d+)\s*([万萬亿億]?)/u

/**
 * The first number in a text. Which mark is the decimal one:
 *
 * - of two kinds (`1,234.50`, `1.234,50`) the last;
 * - a mark that comes several times (`1.234.567`, `1,23,456`) parts thousands;
 * - a single comma parts thousands before exactly three digits (`1,299` is 1299) and is a decimal comma otherwise (`12,5`,
 *   `0,125`);
 * - a single point is always a decimal point (`1.234` is 1.234);
 * - blanks and apostrophes between digits part thousands, where three digits follow.
 *
 * A currency sign may stand before the number, and 万 or 亿 behind it multiply it. Full-width digits count as digits.
 *
 * @param mark The decimal mark, where it is known; the other one then parts thousands.
 */
export function numberOf(text: string, mark?: '.' | ','): number | null {
  const plain = collapse(text.slice(0, 1000).normalize('NFKC'))
  if (mark !== ',' && /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(plain)) return finite(Number(plain))
  const found = NUMBER.exec(plain)
  if (!found) return null
  const [whole, before = '', behind = '', digits = '', multiple = ''] = found
  const glued = /[\p{L}\d]$/u.test(plain.slice(0, found.index))
  const negative = (before !== '' && before !== '+' && !glued) || behind !== ''
  const value = Number(decimal(thousandsJoined(digits), mark)) * (MULTIPLES[multiple] ?? 1)
  return finite(negative && whole ? -value : value)
}

/** Cuts off what follows a blank that does not part thousands: of `3 2` only `3` is the number. */
function thousandsJoined(digits: string): string {
  const [first = '', ...groups] = digits.split(/[\s'’٬_]+/)
  let joined = first
  for (const group of groups) {
    if (!/^\d{3}(?!\d)/.test(group)) break
    joined += group
  }
  return joined.replace(/[.,]+$/, '')
}

function decimal(digits: string, known?: '.' | ','): string {
  if (known) return digits.replaceAll(known === '.' ? ',' : '.', '').replace(known, '.')
  const point = digits.lastIndexOf('.')
  const comma = digits.lastIndexOf(',')
  if (point !== -1 && comma !== -1) {
    const [mark, other] = point > comma ? ['.', ','] : [',', '.']
    return digits.replaceAll(other!, '').replace(mark!, '.')
  }
  if (point === -1 && comma === -1) return digits
  const mark = comma === -1 ? '.' : ','
  const parts = digits.split(mark)
  const thousands = parts.length > 2 || (mark === ',' && parts[0] !== '0')
  const grouped =
    parts[0]!.length <= 3 &&
    parts.at(-1)!.length === 3 &&
    parts.slice(1).every((part) => /^\d{2,3}$/.test(part))
  // `1.2.3` is no number, and Number says so.
  return thousands && grouped ? parts.join('') : parts.join('.')
}

function finite(number: number): number | null {
  return Number.isFinite(number) ? number : null
}

const TRUE = new Set('true yes on y t 1 checked selected 是 有 有货 真'.split(' '))
const FALSE = new Set('false no off n f 0 none 否 无 無 无货 缺货 假'.split(' '))

function booleanOf(text: string): boolean | null {
  const word = text.trim().toLowerCase()
  if (TRUE.has(word)) return true
  return FALSE.has(word) ? false : null
}

/** Absolute, as browsers resolve it, with its fragment; null for `javascript:` and what is not a URL. */
export function urlOf(text: string, base: string): string | null {
  if (!text || !URL.canParse(text, base)) return null
  const { href, protocol } = new URL(text, base)
  return protocol === 'javascript:' ? null : href
}

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')
const TIME =
  /(\d{1,2})\s*[:时時点點]\s*(\d{1,2})(?:\s*[:分]\s*(\d{1,2})(?:[.,]\d+)?)?\s*(am|pm)?\s*(z\b|utc|gmt|[+-]\d{2}:?\d{2})?/i

/**
 * A date as ISO 8601: `2024-05-06` when the text gives no time, `2024-05-06T12:30:00` when it gives no zone (none is made
 * up), else in UTC, `2024-05-06T10:30:00Z`. Understood are year-month-day with - / . or 年月日, `6 May 2024`, `May 6, 2024`,
 * `6.5.2024` (day first, as with points always) and Unix time in seconds or milliseconds. `5/6/2024` may be May or June:
 * null, unless one of the two cannot be a month.
 *
 * @param zone IANA zone of a time that names none; the date then is in UTC.
 */
export function dateOf(text: string, zone?: string): string | null {
  const plain = collapse(text.slice(0, 200).normalize('NFKC'))
  if (/^\d{10}$|^\d{13}$/.test(plain))
    return inUtc(new Date(Number(plain) * (plain.length === 10 ? 1000 : 1)))
  const day = dayOf(plain)
  if (!day) return null
  const date = `${String(day.year).padStart(4, '0')}-${two(day.month)}-${two(day.day)}`
  if (Number.isNaN(Date.parse(date)) || new Date(date).getUTCDate() !== day.day) return null
  const time = TIME.exec(plain.slice(day.end))
  return time ? withTime(date, time, zone) : date
}

function withTime(date: string, time: RegExpExecArray, place?: string): string | null {
  const [, hours, minutes, seconds = '0', half, zone] = time
  let hour = Number(hours)
  if (half) hour = (hour % 12) + (half.toLowerCase() === 'pm' ? 12 : 0)
  if (hour > 23 || Number(minutes) > 59 || Number(seconds) > 59) return date
  const local = `${date}T${two(hour)}:${two(Number(minutes))}:${two(Number(seconds))}`
  if (!zone) return place === undefined ? local : inUtc(new Date(instantIn(place, local)))
  const offset = /^[+-]/.test(zone) ? zone.replace(/^(...):?/, '$1:') : 'Z'
  return inUtc(new Date(local + offset))
}

function inUtc(date: Date): string | null {
  return Number.isNaN(date.getTime()) ? null : date.toISOString().replace(/\.\d{3}Z$/, 'Z')
}

interface Day {
  year: number
  month: number
  day: number
  /** Where in the text the date ends. */
  end: number
}

function dayOf(text: string): Day | null {
  const forms: [RegExp, (parts: string[]) => [year: string, month: string | number, day: string] | null][] = [
    [/(?<!\d)(\d{4})\s*[-/.年]\s*(\d{1,2})\s*[-/.月]\s*(\d{1,2})(?!\d)日?/, ([, y, m, d]) => [y!, m!, d!]],
    [
      /(?<!\d)(\d{1,2})(?:st|nd|rd|th)?[\s-]+(?:of\s+)?([a-z]{3,9})\.?,?[\s-]+(\d{4})/i,
      ([, d, m, y]) => [y!, monthOf(m!), d!],
    ],
    [/([a-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})/i, ([, m, d, y]) => [y!, monthOf(m!), d!]],
    [/(?<!\d)(\d{1,2})\.\s*(\d{1,2})\.\s*(\d{4})(?!\d)/, ([, d, m, y]) => [y!, m!, d!]],
    [/(?<!\d)(\d{1,2})\/(\d{1,2})\/(\d{4})(?!\d)/, ([, a, b, y]) => slashed(a!, b!, y!)],
  ]
  for (const [form, order] of forms) {
    const found = form.exec(text)
    const parts = found && order(found)
    if (!parts) continue
    const [year, month, day] = parts.map(Number)
    if (month! >= 1 && month! <= 12 && day! >= 1)
      return { year: year!, month: month!, day: day!, end: found.index + found[0].length }
  }
  return null
}

function slashed(a: string, b: string, year: string): [string, string, string] | null {
  if (Number(a) > 12) return [year, b, a]
  return Number(b) > 12 || a === b ? [year, a, b] : null
}

function monthOf(name: string): number {
  return MONTHS.indexOf(name.slice(0, 3).toLowerCase()) + 1
}

function two(number: number): string {
  return String(number).padStart(2, '0')
}
