/**
 * The fields of one line of CSV (RFC 4180: a field in quotes may hold the delimiter, and a quote as two of them). Line by
 * line on purpose: a parser of whole files takes an opening quote that is never closed for the begin of a field that
 * reaches to the end of the file, and one such line would cost all that follow.
 * @returns the fields, or why the line has none: `open` when a quote is not closed on it, else what is wrong.
 */
export function csvFields(line: string, delimiter: string): string[] | { fault: string; open: boolean } {
  const fields: string[] = []
  let at = 0
  for (;;) {
    if (line[at] !== '"') {
      const end = line.indexOf(delimiter, at)
      fields.push(line.slice(at, end === -1 ? undefined : end).trim())
      if (end === -1) return fields
      at = end + delimiter.length
      continue
    }
    let value = ''
    for (let from = at + 1; ; ) {
      const quote = line.indexOf('"', from)
      if (quote === -1) return { fault: 'a quote is not closed', open: true }
      value += line.slice(from, quote)
      if (line[quote + 1] !== '"') {
        at = quote + 1
        break
      }
      value += '"'
      from = quote + 2
    }
    fields.push(value.trim())
    if (at === line.length) return fields
    if (!line.startsWith(delimiter, at))
      return { fault: `"${line[at]}" follows a closing quote`, open: false }
    at += delimiter.length
  }
}
