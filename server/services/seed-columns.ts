import { UserError } from '../../core/errors'
import { csvFields } from './csv-line'
import type { SeedInput } from './seed-rows'

const DELIMITERS = [',', ';', '\t', '|']
const URL_NAMES = new Set(['url', 'urls', 'link', 'href', 'loc', 'address', '网址', '链接', '地址'])
const WHOLE = /^[+-]?\d+$/

/** How the lines of a seed file are read. */
export interface SeedColumns {
  delimiter: string
  /** Names of the columns, in lower case; null for a file without a header: URL, priority, depth. */
  names: string[] | null
  url: number
}

/**
 * What the first line says of the rest. It is a header when one of its fields is called `url` (or `link`, `网址` …), or when
 * none of them could be a URL; else it is the first row.
 */
export function seedColumns(firstLine: string): SeedColumns {
  for (const delimiter of DELIMITERS) {
    const names = lowerCase(firstLine, delimiter)
    const url = names.findIndex((name) => URL_NAMES.has(name))
    if (url !== -1) return { delimiter, names, url }
  }
  const delimiter = firstLine.includes('\t') ? '\t' : ','
  const couldBeUrl = /[:/.]/.test(firstLine)
  return { delimiter, names: couldBeUrl ? null : lowerCase(firstLine, delimiter), url: 0 }
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
  const seed: SeedInput = { url: fields[columns.url] ?? '' }
  const other: Record<string, unknown> = {}
  for (const [n, name] of columns.names.entries()) {
    const value = fields[n] ?? ''
    if (n === columns.url || value === '') continue
    if (name === 'priority' || name === 'depth') seed[name] = numberOf(value)
    else if (name === 'meta') seed.meta = parsed(value)
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
