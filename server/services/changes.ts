import { and, desc, eq, gte, inArray, lt, lte, or } from 'drizzle-orm'
import { auditLog } from '../../drizzle/schema/fleet'
import type { Services } from '../context'
import type { Action, Actor } from './audit-log'
import { idsNamed } from './subject-names'

export type Change = typeof auditLog.$inferSelect

/** Where a page of the list ended. */
export interface ChangeCursor {
  /** ms since 1970. */
  at: number
  id: number
}

/** What was changed by whom, newest first. Each of the filters has an index in this order; of several, one is used.
 * `subject` is an id or a name. */
export async function listChanges(
  s: Services,
  filter: {
    actor?: Actor | undefined
    action?: Action | undefined
    subject?: string | undefined
    from?: Date | undefined
    to?: Date | undefined
    after?: ChangeCursor | undefined
    limit: number
  },
): Promise<Change[]> {
  const { actor, action, subject, from, to, after, limit } = filter
  const at = after && new Date(after.at)
  const subjects = subject === undefined ? [] : [subject, ...(await idsNamed(s, subject))]
  return s.database.orm
    .select()
    .from(auditLog)
    .where(
      and(
        actor === undefined ? undefined : eq(auditLog.actor, actor),
        action === undefined ? undefined : eq(auditLog.action, action),
        subjects.length === 0 ? undefined : inArray(auditLog.subject, subjects),
        from && gte(auditLog.at, from),
        to && lt(auditLog.at, to),
        // The first condition says nothing new, but lets the index be entered at the right place.
        at && lte(auditLog.at, at),
        at && or(lt(auditLog.at, at), and(eq(auditLog.at, at), lt(auditLog.id, after.id))),
      ),
    )
    .orderBy(desc(auditLog.at), desc(auditLog.id))
    .limit(limit)
}
