import { csvFields } from './csv-line'
import type { SeedColumns } from './seed-columns'
import { LINE_CHARACTERS, type TextLine } from './text-lines'

const TEXT_CHARACTERS = 200
/** A field in quotes may go on over so many lines; a quote that is open for longer was never closed. */
const LINES_A_ROW = 50

export interface CsvRow {
  line: number
  text: string
  /** What stands in it, or why that can't be told. */
  fields: string[] | string
}

/** Rows of a CSV file without its header. A bad line is one bad row, whatever follows. */
export async function* csvRows(
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
      if (columns.header) continue
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
