import { createWriteStream } from 'node:fs'
import { access, constants, rename, rm, stat } from 'node:fs/promises'
import { dirname, extname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { UserError } from '../core/errors'
import type { PageRecord } from '../server/services/export-pages'

/** The columns of a CSV file, in order; a JSON line has the same fields. */
const COLUMNS = [
  'url',
  'finalUrl',
  'status',
  'state',
  'reason',
  'title',
  'depth',
  'referrer',
  'contentType',
  'charset',
  'flags',
  'bytes',
  'ms',
  'attempts',
  'items',
] as const satisfies (keyof PageRecord)[]

/**
 * Refuses, before anything is fetched, an output file that could not be written in the end.
 * @throws UserError naming the file and the remedy.
 */
export async function checkOutput(file: string): Promise<void> {
  if (!['.jsonl', '.csv'].includes(extname(file)))
    throw new UserError(
      `--out does not know the format of ${file}; give a name that ends with .jsonl or .csv.`,
    )
  const there = await stat(file).catch(() => undefined)
  if (there && !there.isFile())
    throw new UserError(`--out can't write ${file}, which is not a file; give another name.`)
  try {
    await access(dirname(file), constants.W_OK)
  } catch {
    throw new UserError(
      `--out can't write ${file}, because its folder is missing or may not be written; make the folder or give another one.`,
    )
  }
}

/**
 * Writes one line (JSON) or row (CSV, RFC 4180) a page. The file appears when it is whole: it is written under another
 * name beside it and renamed. Values are exact, so a spreadsheet may read one that begins with `=` as a formula.
 */
export async function writePages(file: string, pages: AsyncIterable<PageRecord>): Promise<void> {
  const part = `${file}.${process.pid}.part`
  const lines = extname(file) === '.csv' ? csvLines(pages) : jsonLines(pages)
  try {
    await pipeline(Readable.from(lines), createWriteStream(part))
    await rename(part, file)
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}

async function* jsonLines(pages: AsyncIterable<PageRecord>): AsyncGenerator<string> {
  for await (const page of pages) yield `${JSON.stringify(page)}\n`
}

async function* csvLines(pages: AsyncIterable<PageRecord>): AsyncGenerator<string> {
  yield `${COLUMNS.join(',')}\r\n`
  for await (const page of pages) yield `${COLUMNS.map((column) => csvField(page[column])).join(',')}\r\n`
}

function csvField(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
