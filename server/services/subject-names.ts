import type { Services } from '../context'
import { select } from '../db'

/** Things whose changes stand under an id that says nothing to people: how their actions begin, and where their names are. */
const NAMED = [
  { kind: 'person', table: 'user', name: 'email' },
  { kind: 'key', table: 'api_key', name: 'name' },
  { kind: 'schedule', table: 'schedules', name: 'name' },
  { kind: 'alert.channel', table: 'alert_channels', name: 'name' },
] as const

const namedBy = (action: string) =>
  NAMED.find(({ kind }) => action === kind || action.startsWith(`${kind}.`))?.kind

/** What people call the subject of each change; null where it is its own name, or nothing is known of it any more. */
export async function subjectNames(
  s: Services,
  changes: { action: string; subject: string; detail: unknown }[],
): Promise<(string | null)[]> {
  const names = new Map<string, string>()
  await Promise.all(
    NAMED.map(async ({ kind, table, name }) => {
      const ids = changes.filter(({ action }) => namedBy(action) === kind).map(({ subject }) => subject)
      if (ids.length === 0) return
      const rows = await select<{ id: string | number; shown: string }>(
        s.database.pool,
        `SELECT id, ${name} AS shown FROM ${table} WHERE id IN (?)`,
        [[...new Set(ids)]],
      )
      for (const { id, shown } of rows) names.set(`${kind} ${id}`, shown)
    }),
  )
  return changes.map(({ action, subject, detail }) => {
    const known = names.get(`${namedBy(action)} ${subject}`)
    if (known !== undefined) return known
    // Of who was removed, the record of that has kept the address.
    const { email } = (detail ?? {}) as { email?: unknown }
    return action.startsWith('person.') && typeof email === 'string' ? email : null
  })
}

/** Ids under which the changes of things with this name stand. */
export async function idsNamed(s: Services, shown: string): Promise<string[]> {
  const rows = await select<{ id: string }>(
    s.database.pool,
    NAMED.map(
      ({ table, name }) => `(SELECT CAST(id AS CHAR) AS id FROM ${table} WHERE ${name} = ? LIMIT 100)`,
    ).join(' UNION ALL '),
    NAMED.map(() => shown),
  )
  return rows.map(({ id }) => id)
}
