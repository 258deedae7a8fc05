/** Without it spreadsheets take UTF-8 for the old encoding of their system, and Chinese becomes garbage. */
export const BYTE_ORDER_MARK = '\ufeff'

/** What a spreadsheet would run as a formula, or lets the next cell run. */
const FORMULA = /^[=+\-@\t\r]/

/**
 * A line of CSV (RFC 4180) that is safe to open in a spreadsheet: text that begins like a formula gets an apostrophe in
 * front, for a page may say `=HYPERLINK(…)`. Numbers are written as they are, lists and objects as JSON.
 */
export function csvLine(cells: readonly unknown[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

function csvCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number') return String(value)
  const plain = typeof value === 'object' ? JSON.stringify(value) : String(value)
  const text = FORMULA.test(plain) ? `'${plain}` : plain
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
