import { z } from 'zod'
import { ACTIONS } from '../services/audit-log'
import { listChanges } from '../services/changes'
import { subjectNames } from '../services/subject-names'
import { adminProcedure, router } from './trpc'

const instant = z.number().int().min(0).max(8_640_000_000_000_000)
const text = z.string().trim().min(1).max(191)

export const changesRouter = router({
  /** Who changed what, newest first. Times are ms since 1970; `to` is not included. */
  list: adminProcedure
    .input(
      z.strictObject({
        actor: text.optional(),
        action: z.enum(ACTIONS).optional(),
        subject: text.optional(),
        from: instant.optional(),
        to: instant.optional(),
        cursor: z.strictObject({ at: instant, id: z.number().int().positive() }).nullish(),
        limit: z.number().int().min(1).max(500).default(50),
      }),
    )
    .query(async ({ ctx, input: { from, to, cursor, limit, ...filter } }) => {
      const rows = await listChanges(ctx.services, {
        ...filter,
        from: from === undefined ? undefined : new Date(from),
        to: to === undefined ? undefined : new Date(to),
        after: cursor ?? undefined,
        limit: limit + 1,
      })
      const shown = rows.slice(0, limit)
      const names = await subjectNames(ctx.services, shown)
      const changes = shown.map((row, at) => ({ ...row, at: row.at.getTime(), subjectName: names[at]! }))
      const last = changes.at(-1)
      return { changes, next: rows.length > limit && last ? { at: last.at, id: last.id } : null }
    }),
})
