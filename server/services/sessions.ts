import { and, desc, eq, gt } from 'drizzle-orm'
import { inTransaction } from '../../drizzle/database'
import { session } from '../../drizzle/schema/auth'
import type { Person } from '../auth'
import type { Services } from '../context'
import { change } from '../db'
import { recordChange } from './audit-log'

export interface SessionView {
  id: string
  /** ms since 1970. */
  startedAt: number
  /** Exact to a day. */
  usedAt: number
  address: string | null
  browser: string | null
}

/** Where somebody is signed in, the last used first. Tokens stay where they are. */
export async function listSessions(s: Services, userId: string): Promise<SessionView[]> {
  const rows = await s.database.orm
    .select()
    .from(session)
    .where(and(eq(session.userId, userId), gt(session.expiresAt, new Date())))
    .orderBy(desc(session.updatedAt), desc(session.createdAt))
    .limit(100)
  return rows.map((row) => ({
    id: row.id,
    startedAt: row.createdAt.getTime(),
    usedAt: row.updatedAt.getTime(),
    address: row.ipAddress || null,
    browser: row.userAgent || null,
  }))
}

/** Ends a session of the person's own, at once; of somebody else's, or one that is over, it changes nothing. */
export async function endSession(s: Services, person: Person, id: string): Promise<void> {
  await inTransaction(s.database.pool, async (connection) => {
    const { affectedRows } = await change(connection, 'DELETE FROM session WHERE id = ? AND user_id = ?', [
      id,
      person.id,
    ])
    if (affectedRows > 0)
      await recordChange(connection, person.email, 'person.sign-out', person.id, {
        email: person.email,
        sessions: 1,
      })
  })
}
