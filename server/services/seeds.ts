import { sentence, UserError } from '../../core/errors'
import type { Services } from '../context'
import { change } from '../db'
import { type Actor, recordChange } from './audit-log'
import { csvFields } from './csv-line'
import { type SeedColumns, seedColumns, seedOf } from './seed-columns'
import { insertSeeds, refusal, SEED_CHUNK, type SeedRow, toSeedRow } from './seed-rows'
import { getSpider } from './spiders'
import { LINE_CHARACTERS, type TextLine, textLines } from './text-lines'

export interface SeedImport {
  /** Id or name of the spider whose every run begins with these seeds. */
  spider: number | string
  /** For one run only. */
  runId?: number
  fileName: string
  stream: AsyncIterable<Uint8Array>
  actor: Actor
  onProgress?: (soFar: ImportFigures) => void
}

export interface ImportFigures {
  rows: number
  accepted: number
  /** Known before, or twice in the file. */
  duplicates: number
  rejected: number
}

export interface RejectedLine {
  line: number
  /** The first 200 characters. */
  text: string
  reason: string
}

export interface ImportReport extends ImportFigures {
  id: number
  /** The first thousand rejected lines. */
  report: RejectedLine[]
}

const REPORTED = 1000
const TEXT_CHARACTERS = 200
/** A field in quotes may go on over so many lines; a quote that is open for longer was never closed. */
const LINES_A_ROW = 50

/**
 * Reads seeds from a CSV file (or a plain list of URLs) of any size in bounded memory: encoding, delimiter and header are
 * found out, bad lines are named and the good ones kept. When the file cannot be read to its end, none of it is kept.
 * @throws UserError when the spider is unknown or the file cannot be read.
 */
export async function importSeeds(s: Services, input: SeedImport): Promise<ImportReport> {
  const spider = await getSpider(s, input.spider)
  const { pool } = s.database
  const { insertId: id } = await change(
    pool,
    "INSERT INTO imports (spider_id, file_name, state, author, created_at) VALUES (?, ?, 'running', ?, UTC_TIMESTAMP(3))",
    [spider.id, input.fileName.slice(0, 255), input.actor.slice(0, 191)],
  )
  const owner = { spiderId: spider.id, runId: input.runId ?? 0, importId: id }
  const figures = { rows: 0, accepted: 0, duplicates: 0, rejected: 0 }
  const report: RejectedLine[] = []
  const store = async (rows: SeedRow[]) => {
    const accepted = await insertSeeds(pool, owner, rows)
    figures.accepted += accepted
    figures.duplicates += rows.length - accepted
    input.onProgress?.({ ...figures })
  }
  let storing = Promise.resolve()
  try {
    let chunk: SeedRow[] = []
    for await (const row of seedRows(input.stream)) {
      figures.rows++
      if ('reason' in row) {
        figures.rejected++
        if (report.length < REPORTED) report.push(row)
      } else if (chunk.push(row) === SEED_CHUNK) {
        // One chunk is on its way to the database while the next is read.
        await storing
        storing = store(chunk)
        storing.catch(() => {})
        chunk = []
      }
    }
    await storing
    await store(chunk)
    await change(
      pool,
      "UPDATE imports SET state = 'finished', `rows` = ?, accepted = ?, duplicates = ?, rejected = ?, report = ?, finished_at = UTC_TIMESTAMP(3) WHERE id = ?",
      [figures.rows, figures.accepted, figures.duplicates, figures.rejected, JSON.stringify(report), id],
    )
    await recordChange(pool, input.actor, 'seeds.import', spider.name, {
      import: id,
      file: input.fileName,
      ...figures,
    })
    return { id, ...figures, report }
  } catch (error) {
    await storing.catch(() => {})
    await withdrawImport(s, owner, sentence(error))
    throw error
  }
}

async function* seedRows(stream: AsyncIterable<Uint8Array>): AsyncGenerator<SeedRow | RejectedLine> {
  let columns: SeedColumns | undefined
  for await (const { line, text, fields } of csvRows(textLines(stream), (first) => {
    columns = seedColumns(first)
    return columns
  })) {
    if (typeof fields === 'string') {
      yield { line, text, reason: fields }
      continue
    }
    try {
      if (text.includes('\ufffd'))
        throw new UserError('it has bytes that are no text in the encoding of the file')
      yield toSeedRow(seedOf(fields, columns!))
    } catch (error) {
      yield { line, text: text.slice(0, TEXT_CHARACTERS), reason: refusal(error) }
    }
  }
}

interface CsvRow {
  line: number
  text: string
  /** What stands in it, or why that can't be told. */
  fields: string[] | string
}

/** Rows of a CSV file without its header. A bad line is one bad row, whatever follows. */
async function* csvRows(
  lines: AsyncGenerator<TextLine>,
  columnsOf: (firstLine: string) => SeedColumns,
): AsyncGenerator<CsvRow> {
  let columns: SeedColumns | undefined
  /** Lines that were read in search of a closing quote, and are to be looked at again on their own. */
  const ahead: TextLine[] = []
  const next = async (): Promise<TextLine | undefined> => ahead.shift() ?? (await lines.next()).value
  for (let line = await next(); line !== undefined; line = await next()) {
    if (line.text === null) {
      yield { line: line.number, text: '', fields: `it is longer than ${LINE_CHARACTERS} characters` }
      continue
    }
    if (line.text.trim() === '') continue
    if (columns === undefined) {
      columns = columnsOf(line.text)
      if (columns.names !== null) continue
    }
    const { delimiter } = columns
    let text: string = line.text
    const alone = csvFields(text, delimiter)
    let fields = alone
    const tried: TextLine[] = []
    while (
      !Array.isArray(fields) &&
      fields.open &&
      tried.length < LINES_A_ROW &&
      text.length < LINE_CHARACTERS
    ) {
      const more = await next()
      if (more === undefined) break
      tried.push(more)
      if (more.text === null) break
      text += `\n${more.text}`
      fields = csvFields(text, delimiter)
    }
    if (Array.isArray(fields)) yield { line: line.number, text, fields }
    else {
      yield {
        line: line.number,
        text: line.text.slice(0, TEXT_CHARACTERS),
        fields: Array.isArray(alone) ? alone : alone.fault,
      }
      ahead.unshift(...tried)
    }
  }
}

/** Takes the seeds of an import back and says why in its record: one that failed leaves none behind. */
export async function withdrawImport(
  s: Services,
  owner: { spiderId: number; runId: number; importId: number },
  why: string,
): Promise<void> {
  const { pool } = s.database
  try {
    for (let removed = 1; removed > 0; ) {
      const result = await change(
        pool,
        'DELETE FROM seeds WHERE spider_id = ? AND run_id = ? AND import_id = ? LIMIT 5000',
        [owner.spiderId, owner.runId, owner.importId],
      )
      removed = result.affectedRows
    }
    await change(
      pool,
      "UPDATE imports SET state = 'failed', error = ?, finished_at = UTC_TIMESTAMP(3) WHERE id = ?",
      [why, owner.importId],
    )
  } catch (error) {
    s.log.error(
      { err: error, import: owner.importId },
      'the seeds of an import that failed could not be removed',
    )
  }
}
