import type { Services } from '../context'
import { listChanges } from './changes'
import { BYTE_ORDER_MARK, csvLine } from './csv-cells'

export const CHANGE_FORMATS = { csv: 'text/csv', jsonl: 'application/jsonl' } as const
export type ChangeFormat = keyof typeof CHANGE_FORMATS

export type ChangeFilter = Omit<Parameters<typeof listChanges>[1], 'after' | 'limit'>

const CHUNK = 500

/** What was changed by whom, newest first, as a file; a chunk at a time, so that memory stays the same for any length. */
export async function* changeFile(
  s: Services,
  filter: ChangeFilter,
  format: ChangeFormat,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  if (format === 'csv')
    yield encoder.encode(BYTE_ORDER_MARK + csvLine(['id', 'at', 'actor', 'action', 'subject', 'detail']))
  for (let after: { at: number; id: number } | undefined; ; ) {
    const rows = await listChanges(s, { ...filter, after, limit: CHUNK })
    const lines = rows.map(({ id, at, actor, action, subject, detail }) => {
      const told = { id, at: at.toISOString(), actor, action, subject, detail }
      return format === 'jsonl' ? `${JSON.stringify(told)}\n` : csvLine(Object.values(told))
    })
    if (lines.length > 0) yield encoder.encode(lines.join(''))
    if (rows.length < CHUNK) return
    const last = rows.at(-1)!
    after = { at: last.at.getTime(), id: last.id }
  }
}
