import { z } from 'zod'
import { OUTCOMES } from '../../core/queue/states'

/** Which pages of a run are meant: those that answer to everything that is given. */
export const pageFilter = z.strictObject({
  state: z.enum(OUTCOMES).optional(),
  /** With the port, where it is not the scheme's own. */
  host: z.string().trim().min(1).max(300).optional(),
  status: z.number().int().min(1).max(999).optional(),
  /** Class of error, such as `http_404`; see worker/outcome.ts. */
  reason: z.string().trim().min(1).max(40).optional(),
  depth: z.number().int().min(0).max(1_000_000).optional(),
  /** What stands somewhere in the URL, byte by byte. */
  url: z.string().trim().min(1).max(500).optional(),
})
export type PageFilter = z.infer<typeof pageFilter>

/** A part of a WHERE clause with the values of its question marks; empty text for no condition. */
export interface Condition {
  text: string
  values: unknown[]
}

/** The filter in SQL, without the column `except`, which the caller has as its way into an index. */
export function filterCondition(filter: PageFilter, except?: keyof PageFilter): Condition {
  const parts: Condition[] = []
  for (const column of ['state', 'host', 'status', 'reason', 'depth'] as const)
    if (filter[column] !== undefined && column !== except)
      parts.push({ text: ` AND ${column} = ?`, values: [filter[column]] })
  if (filter.url !== undefined)
    parts.push({ text: ' AND url LIKE ?', values: [`%${filter.url.replace(/[\\%_]/g, '\\$&')}%`] })
  return { text: parts.map(({ text }) => text).join(''), values: parts.flatMap(({ values }) => values) }
}
