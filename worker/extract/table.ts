import { budget } from './budget'
import { textOf } from './node-text'
import { collapse, firstCharacters } from './text'
import type { TreeElement, TreeParent } from './tree'

/** Columns that are looked at; a colspan may claim 1,000. */
const MAX_COLUMNS = 200
/** Header rows above one another that make up the keys. */
const MAX_HEADS = 5
const MAX_KEY = 200
/** Steps that a cell costs: what its place in each row takes in memory, too, spanning cells being many for little text. */
const CELL = 50

export type Row = Record<string, string>

/**
 * The rows of a table as objects, with the header cells for keys: those of `thead`, or of the first rows that have header
 * cells alone, or the first row. Header rows above one another are joined (`2024 Sales`), and cells that span rows or columns
 * count in each. A table whose header cells stand in its first column is one object.
 */
export function rowsOf(table: TreeElement): Row[] {
  const rows = ownRows(table)
  const grid = spread(rows)
  const count = headerRows(rows)
  if (count === 0 && rows.length > 0 && rows.every(({ cells }) => cells[0]?.name === 'th'))
    return [
      Object.fromEntries(
        grid.map(([key = '', ...values]) => [firstCharacters(key, MAX_KEY), values.join(' ').trim()]),
      ),
    ]
  const heads = Math.max(count, 1)
  const keys = keysOf(grid.slice(Math.max(0, heads - MAX_HEADS), heads))
  return grid.slice(heads).map((cells) => Object.fromEntries(keys.map((key, n) => [key, cells[n] ?? ''])))
}

interface TableRow {
  inHead: boolean
  cells: TreeElement[]
}

/** Rows of the table itself, not those of tables in its cells. */
function ownRows(table: TreeParent, inHead = false): TableRow[] {
  budget.spend(1 + table.children.length)
  return table.children.flatMap((child) => {
    if (child.type !== 'tag') return []
    if (child.name === 'thead' || child.name === 'tbody' || child.name === 'tfoot')
      return ownRows(child, child.name === 'thead')
    if (child.name !== 'tr') return []
    const cells = child.children.filter(
      (cell): cell is TreeElement => cell.type === 'tag' && (cell.name === 'td' || cell.name === 'th'),
    )
    return cells.length === 0 ? [] : [{ inHead, cells }]
  })
}

function headerRows(rows: TableRow[]): number {
  const heads = rows.findIndex(({ inHead, cells }) => !inHead && cells.some((cell) => cell.name === 'td'))
  return heads === -1 ? (rows.some(({ inHead }) => inHead) ? rows.length : 0) : heads
}

/** The texts of all cells by row and column, spanning ones repeated. */
function spread(rows: TableRow[]): string[][] {
  const above: { text: string; left: number }[] = []
  return rows.map(({ cells }) => {
    const line: string[] = []
    const fill = () => {
      for (let held = above[line.length]; held && held.left > 0; held = above[line.length]) {
        budget.spend(CELL)
        held.left--
        line.push(held.text)
      }
    }
    for (const cell of cells) {
      fill()
      const text = collapse(textOf(cell))
      const down = span(cell, 'rowspan')
      for (let n = span(cell, 'colspan'); n > 0 && line.length < MAX_COLUMNS; n--) {
        budget.spend(CELL)
        above[line.length] = { text, left: down - 1 }
        line.push(text)
      }
    }
    fill()
    return line
  })
}

const span = ({ attribs }: TreeElement, name: string) =>
  Math.max(1, Number.parseInt(attribs[name] ?? '1', 10) || 1)

function keysOf(heads: string[][]): string[] {
  const width = Math.max(0, ...heads.map((line) => line.length))
  const taken = new Map<string, number>()
  return Array.from({ length: width }, (_, n) => {
    const words = heads.map((line) => line[n] ?? '')
    const joined = words.filter((word, at) => word !== '' && word !== words[at - 1]).join(' ')
    const key = firstCharacters(joined, MAX_KEY) || `column ${n + 1}`
    const times = (taken.get(key) ?? 0) + 1
    taken.set(key, times)
    return times === 1 ? key : `${key} ${times}`
  })
}
