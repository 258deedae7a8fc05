import { csvFields } from './csv-line'
import { csvRows } from './csv-rows'
import { type ColumnChoice, type ColumnRole, type SeedColumns, seedColumns } from './seed-columns'
import { type Encoding, textLines } from './text-lines'

export interface SeedPreview {
  encoding: Encoding
  columns: ColumnChoice
  /** Names of the columns as the file has them; empty where it has none. */
  names: string[]
  /** The fields of the first rows. */
  rows: string[][]
}

const ROWS = 6
const CELL_CHARACTERS = 300

/**
 * How a file of seeds would be read, from its first bytes, by the very code that reads it; what someone chose counts
 * instead of what is found out. Rows that can't be read are left out.
 */
export async function previewSeeds(
  bytes: Uint8Array,
  chosen: { encoding?: Encoding; delimiter?: string; header?: boolean } = {},
): Promise<SeedPreview> {
  let encoding: Encoding = chosen.encoding ?? 'utf-8'
  let columns: SeedColumns | undefined
  let names: string[] = []
  const rows: string[][] = []
  const lines = textLines(only(bytes), chosen.encoding, (found) => {
    encoding = found
  })
  for await (const { fields } of csvRows(lines, (first) => {
    const found = seedColumns(first)
    columns = {
      ...found,
      delimiter: chosen.delimiter ?? found.delimiter,
      header: chosen.header ?? found.header,
    }
    if (columns.header) names = fieldsOf(first, columns.delimiter)
    return columns
  })) {
    if (Array.isArray(fields)) rows.push(fields.map((value) => value.slice(0, CELL_CHARACTERS)))
    if (rows.length === ROWS) break
  }
  const { delimiter, header } = columns ?? seedColumns('')
  // A list of URLs, some of which hold commas: nothing is delimited.
  const list = !header && chosen.delimiter === undefined && new Set(rows.map((row) => row.length)).size > 1
  const shown = list ? rows.map((row) => [row.join(delimiter)]) : rows
  const width = Math.max(1, names.length, ...shown.map((row) => row.length))
  return { encoding, columns: { delimiter, header, roles: rolesOf(names, shown, width) }, names, rows: shown }
}

/** By the names where there are any, else as a file without header is read; the URL is where something looks like one. */
function rolesOf(names: string[], rows: string[][], width: number): ColumnRole[] {
  const numbers = (column: number) => rows.every((row) => /^([+-]?\d+)?$/.test(row[column] ?? ''))
  const looksLikeUrl = (column: number) =>
    rows.some((row) => /^(https?:)?\/\/|^[\w-]+(\.[\w-]+)+/i.test(row[column] ?? ''))
  const named = header(names)
  const roles = Array.from({ length: width }, (_, column): ColumnRole => {
    if (names.length > 0) return named[column] ?? 'keep'
    const known = (['url', 'priority', 'depth'] as const)[column]
    return known && width <= 3 && (column === 0 || numbers(column)) ? known : 'keep'
  })
  const url = roles.indexOf('url')
  if (url !== -1 && looksLikeUrl(url)) return roles
  const found = roles.findIndex((_, column) => looksLikeUrl(column))
  const at = found === -1 ? Math.max(0, url) : found
  return roles.map((role, column) => (column === at ? 'url' : role === 'url' ? 'keep' : role))
}

const header = (names: string[]) =>
  seedColumns(names.map((name) => `"${name.replaceAll('"', '""')}"`).join(',')).roles

function fieldsOf(line: string, delimiter: string): string[] {
  const fields = csvFields(line, delimiter)
  return Array.isArray(fields) ? fields : [line]
}

async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
