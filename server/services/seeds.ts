import { sentence, UserError } from '../../core/errors'
import { inTransaction } from '../../drizzle/database'
import type { Services } from '../context'
import { change, select } from '../db'
import { type Actor, recordChange } from './audit-log'
import { csvRows } from './csv-rows'
import { type ColumnChoice, type SeedColumns, seedColumns, seedOf } from './seed-columns'
import { holdImport, insertSeeds, refusal, SEED_CHUNK, type SeedRow, toSeedRow } from './seed-rows'
import { getSpider, type SavedSpider } from './spiders'
import { type Encoding, textLines } from './text-lines'
import { withdrawImport } from './withdraw-import'

export interface SeedImport {
  /** Id or name of the spider whose every run begins with these seeds. */
  spider: number | string
  fileName: string
  stream: AsyncIterable<Uint8Array>
  actor: Actor
  /** How the file is to be read; absent: found out. */
  encoding?: Encoding
  columns?: ColumnChoice
  /** One bad line, and nothing of the file is kept. */
  wholeOnly?: boolean
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
  /** Whether the good lines were kept: not when the file was to be taken whole and some were bad. */
  kept: boolean
  /** The first thousand rejected lines. */
  report: RejectedLine[]
}

const REPORTED = 1000
const TEXT_CHARACTERS = 200
/** How often the reader of a file says that it lives. */
const ALIVE_EVERY_MS = 5_000
/** A reader that has said nothing for so long is taken for dead, and its import is taken back. */
export const IMPORT_SILENT_SECONDS = 60

/**
 * Reads seeds from a CSV file (or a plain list of URLs) of any size in bounded memory: encoding, delimiter and header are
 * found out, bad lines are named and the good ones kept. When the file cannot be read to its end, none of it is kept, whatever
 * the reason: runs begin with its seeds only once all are there (`withdraw-import.ts` is the other way out).
 * @throws UserError when the spider is unknown, another file is being read for it, or the file cannot be read.
 */
export async function importSeeds(s: Services, input: SeedImport): Promise<ImportReport> {
  const spider = await getSpider(s, input.spider)
  const { pool } = s.database
  const id = await beginImport(s, spider, input)
  const owner = { spiderId: spider.id, runId: 0, importId: id }
  const figures = { rows: 0, accepted: 0, duplicates: 0, rejected: 0 }
  const report: RejectedLine[] = []
  const store = async (rows: SeedRow[]) => {
    const accepted = await insertSeeds(pool, owner, rows)
    figures.accepted += accepted
    figures.duplicates += rows.length - accepted
    input.onProgress?.({ ...figures })
  }
  const alive = setInterval(() => {
    sayAlive(s, id, figures).catch((error: unknown) =>
      s.log.warn({ import: id, cause: sentence(error) }, 'an import could not say that it goes on'),
    )
  }, ALIVE_EVERY_MS)
  let storing = Promise.resolve()
  try {
    let chunk: SeedRow[] = []
    for await (const row of seedRows(input)) {
      figures.rows++
      if ('reason' in row) {
        figures.rejected++
        if (report.length < REPORTED) report.push(row)
      } else if (!(input.wholeOnly && figures.rejected > 0) && chunk.push(row) === SEED_CHUNK) {
        // One chunk is on its way to the database while the next is read.
        await storing
        storing = store(chunk)
        storing.catch(() => {})
        chunk = []
      }
    }
    await storing
    if (input.wholeOnly && figures.rejected > 0) return await refuseImport(s, id, { ...figures, report })
    await store(chunk)
    return await finishImport(s, id, spider, input, { ...figures, report })
  } catch (error) {
    await storing.catch(() => {})
    await withdrawImport(s, id, sentence(error)).catch((fault: unknown) =>
      s.log.error(
        { err: fault, import: id },
        'an import that broke off is left to the scheduler to take back',
      ),
    )
    throw error
  } finally {
    clearInterval(alive)
  }
}

/** @returns the number of the import. @throws UserError while another file is read for the spider. */
async function beginImport(s: Services, spider: SavedSpider, input: SeedImport): Promise<number> {
  const { pool } = s.database
  // The unique key decides between two who begin at once.
  const { affectedRows, insertId } = await change(
    pool,
    "INSERT IGNORE INTO imports (spider_id, file_name, state, open_for, alive_at, author, created_at) VALUES (?, ?, 'running', ?, UTC_TIMESTAMP(3), ?, UTC_TIMESTAMP(3))",
    [spider.id, input.fileName.slice(0, 255), spider.id, input.actor.slice(0, 191)],
  )
  if (affectedRows === 1) return insertId
  const [other] = await select<{ file: string }>(
    pool,
    'SELECT file_name AS file FROM imports WHERE open_for = ?',
    [spider.id],
  )
  throw new UserError(
    `Another file (${other?.file ?? 'just done'}) is being read for the spider "${spider.name}"; import this one when that is done.`,
    { code: 'import_busy', values: { file: other?.file ?? '', spider: spider.name } },
  )
}

async function sayAlive(s: Services, id: number, { rows, accepted, duplicates, rejected }: ImportFigures) {
  await change(
    s.database.pool,
    "UPDATE imports SET alive_at = UTC_TIMESTAMP(3), `rows` = ?, accepted = ?, duplicates = ?, rejected = ? WHERE id = ? AND state = 'running'",
    [rows, accepted, duplicates, rejected, id],
  )
}

/** Lets all seeds of the file count, in one step. @throws UserError when the import was withdrawn meanwhile. */
async function finishImport(
  s: Services,
  id: number,
  spider: SavedSpider,
  { fileName, actor }: SeedImport,
  { rows, rejected, report }: Omit<ImportReport, 'id' | 'kept'>,
): Promise<ImportReport> {
  return inTransaction(s.database.pool, async (connection) => {
    const state = await holdImport(connection, id)
    // Counted anew: a chunk that was sent twice, because the first reply was lost, found its own rows there.
    const [counted] = await select<{ accepted: number }>(
      connection,
      'SELECT COUNT(*) AS accepted FROM seeds WHERE import_id = ?',
      [id],
    )
    const { accepted } = counted!
    const figures = { rows, accepted, duplicates: rows - rejected - accepted, rejected }
    // Finished already: the reply to an earlier try of this very step was lost.
    if (state === 'running') {
      await change(
        connection,
        "UPDATE imports SET state = 'finished', open_for = NULL, `rows` = ?, accepted = ?, duplicates = ?, rejected = ?, report = ?, finished_at = UTC_TIMESTAMP(3) WHERE id = ?",
        [rows, accepted, figures.duplicates, rejected, JSON.stringify(report), id],
      )
      await recordChange(connection, actor, 'seeds.import', spider.name, {
        import: id,
        file: fileName,
        ...figures,
      })
    }
    return { id, kept: true, ...figures, report }
  })
}

/** Takes the good lines back, because of the bad ones, which stay on record. */
async function refuseImport(
  s: Services,
  id: number,
  { rows, rejected, report }: Omit<ImportReport, 'id' | 'kept'>,
): Promise<ImportReport> {
  await change(
    s.database.pool,
    'UPDATE imports SET `rows` = ?, rejected = ?, duplicates = 0, report = ? WHERE id = ?',
    [rows, rejected, JSON.stringify(report), id],
  )
  await withdrawImport(
    s,
    id,
    'The file was to be taken whole or not at all, and has lines that can’t be used; mend them, or take the good ones alone.',
  )
  return { id, kept: false, rows, accepted: 0, duplicates: 0, rejected, report }
}

async function* seedRows(
  input: Pick<SeedImport, 'stream' | 'encoding' | 'columns'>,
): AsyncGenerator<SeedRow | RejectedLine> {
  let columns: SeedColumns | undefined
  for await (const { line, text, fields } of csvRows(textLines(input.stream, input.encoding), (first) => {
    columns = seedColumns(first, input.columns)
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
