import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { desc, eq } from 'drizzle-orm'
import { UserError } from '../../core/errors'
import { inTransaction } from '../../drizzle/database'
import { apiKey } from '../../drizzle/schema/auth'
import type { Person, Role } from '../auth'
import type { Services } from '../context'
import { change } from '../db'
import { type Actor, recordChange } from './audit-log'

export type ApiKey = Omit<typeof apiKey.$inferSelect, 'secretHash'>

/** `orb_`, the part that may be seen, and 256 random bits. */
const KEY = /^orb_([0-9a-f]{12})_([\w-]{43})$/
const DAY_MS = 86_400_000

const hashOf = (secret: string) => createHash('sha256').update(secret).digest()

/**
 * Makes a key for a program. It acts with the role it is given, whatever becomes of the person who made it, until it expires
 * or is revoked.
 * @returns the key itself, which nobody can read again, and its id.
 */
export async function createKey(
  s: Services,
  { name, role, days }: { name: string; role: Role; days?: number | undefined },
  actor: Actor,
): Promise<{ id: string; key: string }> {
  const id = randomBytes(6).toString('hex')
  const secret = randomBytes(32).toString('base64url')
  const expiresAt = days === undefined ? null : new Date(Date.now() + days * DAY_MS)
  await inTransaction(s.database.pool, async (connection) => {
    await change(
      connection,
      'INSERT INTO api_key (id, secret_hash, name, role, author, created_at, expires_at) VALUES (?, ?, ?, ?, ?, UTC_TIMESTAMP(3), ?)',
      [id, hashOf(secret), name, role, actor.slice(0, 191), expiresAt],
    )
    await recordChange(connection, actor, 'key.create', id, { name, role, days: days ?? null })
  })
  return { id, key: `orb_${id}_${secret}` }
}

/** From now on the key opens nothing. Revoking it again changes nothing. @throws UserError when there is none. */
export async function revokeKey(s: Services, id: string, actor: Actor): Promise<void> {
  await inTransaction(s.database.pool, async (connection) => {
    const { affectedRows } = await change(
      connection,
      'UPDATE api_key SET revoked_at = UTC_TIMESTAMP(3) WHERE id = ? AND revoked_at IS NULL',
      [id],
    )
    if (affectedRows > 0) await recordChange(connection, actor, 'key.revoke', id)
  })
  if (!(await findKey(s, id)))
    throw new UserError(`There is no API key ${id}; the list of keys shows those there are.`, {
      code: 'key_unknown',
      values: { id },
    })
}

/** All keys, newest first, revoked ones included. */
export async function listKeys(s: Services): Promise<ApiKey[]> {
  const rows = await s.database.orm.select().from(apiKey).orderBy(desc(apiKey.createdAt))
  return rows.map(({ secretHash: _, ...key }) => key)
}

/** Whom the key of an Authorization header stands for; null when it is no key, or one that opens nothing any more. */
export async function keyHolder(s: Services, authorization: string | null): Promise<Person | null> {
  const [, id, secret] = KEY.exec(/^Bearer (.+)$/i.exec(authorization ?? '')?.[1] ?? '') ?? []
  if (!id || !secret) return null
  const key = await findKey(s, id)
  if (!key || !timingSafeEqual(key.secretHash, hashOf(secret))) return null
  if (key.revokedAt || (key.expiresAt && key.expiresAt.getTime() <= Date.now())) return null
  await change(
    s.database.pool,
    'UPDATE api_key SET last_used_at = UTC_TIMESTAMP(3) WHERE id = ? AND (last_used_at IS NULL OR last_used_at < UTC_TIMESTAMP(3) - INTERVAL 1 MINUTE)',
    [id],
  )
  // Stands where an e-mail address does with people, so that changes tell which key made them.
  return { id: `key:${id}`, name: key.name, email: `key:${id} ${key.name}`, role: key.role }
}

async function findKey(s: Services, id: string) {
  const [key] = await s.database.orm.select().from(apiKey).where(eq(apiKey.id, id))
  return key
}
