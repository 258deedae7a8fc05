import { UserError } from '../../core/errors'
import { csvFields } from './csv-line'
import type { SeedInput } from './seed-rows'

const DELIMITERS = [',', ';', '\t', '|']
const URL_NAMES = new Set(['url', 'urls', 'link', 'href', 'loc', 'address', '网址', '链接', '地址'])
const ROLE_NAMES = new Map<string, ColumnRole>([
  ['priority', 'priority'],
  ['优先级', 'priority'],
  ['depth', 'depth'],
  ['深度', 'depth'],
  ['meta', 'meta'],
])
const WHOLE = /^[+-]?\d+$/

/** What a column holds. `keep`: part of the seed's meta, under the column's name; `leave`: nothing of interest. */
export const COLUMN_ROLES = ['url', 'priority', 'depth', 'meta', 'keep', 'leave'] as const
export type ColumnRole = (typeof COLUMN_ROLES)[number]

/** What someone says of a file, in place of what its first line says. */
export interface ColumnChoice {
  delimiter: string
  /** Whether the first line holds names. */
  header: boolean
  /** One for each column; exactly one of them is `url`. */
  roles: ColumnRole[]
}

/** How the lines of a seed file are read. */
export interface SeedColumns {
  delimiter: string
  /** Whether the first line is no row. */
  header: boolean
  /** Names of the columns, in lower case; null for a file without a header that is read as URL, priority, depth. */
  names: string[] | null
  roles: ColumnRole[]
}

/**
 * What the first line says of the rest. It is a header when one of its fields is called `url` (or `link`, `网址` …), or when
 * none of them could be a URL; else it is the first row. What someone chose counts instead.
 */
export function seedColumns(firstLine: string, choice?: ColumnChoice): SeedColumns {
  if (choice) {
    const { delimiter, header, roles } = choice
    const names = header ? lowerCase(firstLine, delimiter) : []
    return { delimiter, header, names: roles.map((_, n) => names[n] ?? `column ${n + 1}`), roles }
  }
  for (const delimiter of DELIMITERS) {
    const names = lowerCase(firstLine, delimiter)
    const url = names.findIndex((name) => URL_NAMES.has(name))
    if (url !== -1) return { delimiter, header: true, names, roles: rolesOf(names, url) }
  }
  const delimiter = firstLine.includes('\t') ? '\t' : ','
  if (/[:/.]/.test(firstLine))
    return { delimiter, header: false, names: null, roles: ['url', 'priority', 'depth'] }
  const commonest = DELIMITERS.reduce((best, one) =>
    many(firstLine, one) > many(firstLine, best) ? one : best,
  )
  const names = lowerCase(firstLine, commonest)
  return { delimiter: commonest, header: true, names, roles: rolesOf(names, 0) }
}

const many = (line: string, delimiter: string) => line.split(delimiter).length

function rolesOf(names: string[], url: number): ColumnRole[] {
  return names.map((name, n) => (n === url ? 'url' : (ROLE_NAMES.get(name) ?? 'keep')))
}

function lowerCase(line: string, delimiter: string): string[] {
  const fields = csvFields(line, delimiter)
  return Array.isArray(fields) ? fields.map((field) => field.toLowerCase()) : []
}

/**
 * The seed that a row describes. Its numbers may be wrong; `toSeedRow` says so.
 * @throws UserError when the row has more fields than the header: which of them holds the delimiter can't be told.
 */
export function seedOf(fields: string[], columns: SeedColumns): SeedInput {
  if (columns.names === null) return plainSeed(fields, columns.delimiter)
  // With one column there is nothing to delimit, so a comma belongs to the URL.
  if (columns.names.length === 1) return { url: fields.join(columns.delimiter) }
  if (fields.slice(columns.names.length).some((value) => value !== ''))
    throw new UserError(
      `it has ${fields.length} fields, the header ${columns.names.length}; put quotes around a value that holds "${columns.delimiter}"`,
    )
  const seed: SeedInput = { url: fields[columns.roles.indexOf('url')] ?? '' }
  const other: Record<string, unknown> = {}
  for (const [n, name] of columns.names.entries()) {
    const value = fields[n] ?? ''
    const role = columns.roles[n] ?? 'keep'
    if (role === 'url' || role === 'leave' || value === '') continue
    if (role === 'priority' || role === 'depth') seed[role] = numberOf(value)
    else if (role === 'meta') seed.meta = parsed(value)
    else other[name || `column ${n + 1}`] = value
  }
  if (Object.keys(other).length > 0)
    seed.meta = isRecord(seed.meta)
      ? { ...other, ...seed.meta }
      : seed.meta === undefined
        ? other
        : { ...other, meta: seed.meta }
  return seed
}

/** Without a header a URL may hold the delimiter itself: what is not followed by numbers alone is all URL. */
function plainSeed(fields: string[], delimiter: string): SeedInput {
  const numbers = fields.slice(1)
  if (numbers.length > 2 || !numbers.every((value) => value === '' || WHOLE.test(value)))
    return { url: fields.join(delimiter) }
  const [priority, depth] = numbers
  return {
    url: fields[0]!,
    ...(priority ? { priority: Number(priority) } : {}),
    ...(depth ? { depth: Number(depth) } : {}),
  }
}

const numberOf = (value: string) => (WHOLE.test(value) ? Number(value) : Number.NaN)

function parsed(value: string): unknown {
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
