import { BYTE_ORDER_MARK, csvLine } from './csv-cells'
import type { Item } from './item-list'

export const ITEM_FORMATS = { csv: 'text/csv', jsonl: 'application/jsonl', json: 'application/json' } as const
export type ItemFormat = keyof typeof ITEM_FORMATS

/**
 * A file of items, piece by piece. Columns are the page's URL and the fields asked for, in that order, whatever each item
 * has: what it lacks is empty (CSV) or null. CSV is safe to open in a spreadsheet.
 * @param mark a byte order mark in front of CSV, by which spreadsheets know UTF-8.
 */
export async function* itemFile(
  items: AsyncIterable<Item>,
  { format, fields, mark }: { format: ItemFormat; fields: string[]; mark: boolean },
): AsyncGenerator<string> {
  const record = ({ url, data }: Item) =>
    JSON.stringify(Object.fromEntries([['url', url], ...fields.map((field) => [field, data[field] ?? null])]))
  if (format === 'csv') yield (mark ? BYTE_ORDER_MARK : '') + csvLine(['url', ...fields])
  if (format === 'json') yield '['
  let first = true
  for await (const item of items) {
    if (format === 'csv') yield csvLine([item.url, ...fields.map((field) => item.data[field])])
    else if (format === 'jsonl') yield `${record(item)}\n`
    else yield `${first ? '\n' : ',\n'}${record(item)}`
    first = false
  }
  if (format === 'json') yield '\n]\n'
}
