import { change, type Sql } from '../db'

/** Who asks for a change: a user's e-mail address, or the name of a process such as `cli` or `scheduler`. */
export type Actor = string

/** Writes down who changed what. Call it on the connection of the change itself, so that neither stands without the other. */
export async function recordChange(
  on: Sql,
  actor: Actor,
  action: string,
  subject: string | number,
  detail: unknown = null,
): Promise<void> {
  await change(
    on,
    'INSERT INTO audit_log (at, actor, action, subject, detail) VALUES (UTC_TIMESTAMP(3), ?, ?, ?, ?)',
    [actor.slice(0, 191), action, String(subject).slice(0, 191), JSON.stringify(detail)],
  )
}
