import { UserError } from '../../core/errors'
import { inTransaction } from '../../drizzle/database'
import type { Role } from '../auth'
import type { Services } from '../context'
import { change, type Sql, select } from '../db'
import { createSignInLink } from '../sign-in-link'
import { type Actor, recordChange } from './audit-log'

export interface PersonRow {
  id: string
  name: string
  email: string
  role: Role
  /** Null: they may sign in. */
  disabledAt: Date | null
  hasSecondFactor: boolean
  secondFactorRequired: boolean
  createdAt: Date
  /** Without one they have only the link of their invitation. */
  hasPassword: boolean
  /** Last use of a session that is still open. */
  seenAt: Date | null
}

/** Everybody who may use the console, by name. */
export async function listPeople(s: Services): Promise<PersonRow[]> {
  const rows = await select<PersonRow>(
    s.database.pool,
    `SELECT id, name, email, role, disabled_at AS disabledAt, two_factor_enabled AS hasSecondFactor,
       second_factor_required AS secondFactorRequired, created_at AS createdAt,
       EXISTS (SELECT 1 FROM account WHERE user_id = user.id AND password IS NOT NULL) AS hasPassword,
       (SELECT MAX(updated_at) FROM session WHERE user_id = user.id) AS seenAt
     FROM user ORDER BY name, id`,
  )
  return rows.map((row) => ({
    ...row,
    hasPassword: Boolean(row.hasPassword),
    hasSecondFactor: Boolean(row.hasSecondFactor),
    secondFactorRequired: Boolean(row.secondFactorRequired),
  }))
}

/**
 * Makes an account that is entered through a link, once, within 24 hours, or by single sign-on; its owner then makes a password.
 * @throws UserError when the address has an account.
 */
export async function invitePerson(
  s: Services,
  { name, email, role }: { name: string; email: string; role: Role },
  actor: Actor,
): Promise<{ id: string; link: string }> {
  const id = crypto.randomUUID()
  const address = email.toLowerCase()
  await inTransaction(s.database.pool, async (connection) => {
    const { affectedRows } = await change(
      connection,
      'INSERT IGNORE INTO user (id, name, email, email_verified, role, created_at, updated_at) VALUES (?, ?, ?, TRUE, ?, UTC_TIMESTAMP(3), UTC_TIMESTAMP(3))',
      [id, name, address, role],
    )
    if (affectedRows === 0)
      throw new UserError(`The address ${address} belongs to another account; take a different one.`, {
        code: 'address_taken',
        values: { email: address },
      })
    await recordChange(connection, actor, 'person.invite', id, { email: address, role })
  })
  return { id, link: await createSignInLink(s, id) }
}

/**
 * Another link for somebody whose first one is used up or too old. Only as long as they have no password: afterwards it would
 * let an administrator act under their name.
 */
export async function inviteAgain(s: Services, id: string, actor: Actor): Promise<{ link: string }> {
  const person = (await listPeople(s)).find((one) => one.id === id)
  if (!person) throw noPerson(id)
  if (person.hasPassword)
    throw new UserError(`${person.email} has a password already; a link is for those without one.`, {
      code: 'password_there',
    })
  await recordChange(s.database.pool, actor, 'person.invite', id, { email: person.email })
  return { link: await createSignInLink(s, id) }
}

/** Gives another role; who was signed in has to do so again. @throws UserError for the last administrator. */
export async function changeRole(s: Services, id: string, role: Role, actor: Actor): Promise<void> {
  await inTransaction(s.database.pool, async (connection) => {
    const before = await lockPerson(connection, id, role === 'admin')
    if (before.role === role) return
    await change(connection, 'UPDATE user SET role = ?, updated_at = UTC_TIMESTAMP(3) WHERE id = ?', [
      role,
      id,
    ])
    await change(connection, 'DELETE FROM session WHERE user_id = ?', [id])
    await recordChange(connection, actor, 'person.role', id, {
      email: before.email,
      from: before.role,
      to: role,
    })
  })
}

/** Takes an account away, with its sessions and invitations, at once. @throws UserError for the last administrator. */
export async function removePerson(s: Services, id: string, actor: Actor): Promise<void> {
  await inTransaction(s.database.pool, async (connection) => {
    const { email, role } = await lockPerson(connection, id, false)
    for (const table of ['session', 'account', 'two_factor'])
      await change(connection, `DELETE FROM ${table} WHERE user_id = ?`, [id])
    await change(
      connection,
      "DELETE FROM verification WHERE identifier LIKE 'sign-in-link:%' AND value = ?",
      [id],
    )
    await change(connection, 'DELETE FROM user WHERE id = ?', [id])
    await recordChange(connection, actor, 'person.remove', id, { email, role })
  })
}

/**
 * From now on they can't sign in, and all their sessions are over at once. Their name, role and password stay for when they
 * are enabled again; so do API keys that they made. Repeats change nothing. @throws UserError for the last administrator.
 */
export async function disablePerson(s: Services, id: string, actor: Actor): Promise<void> {
  await inTransaction(s.database.pool, async (connection) => {
    const { email, disabledAt } = await lockPerson(connection, id, false)
    if (disabledAt) return
    await change(
      connection,
      'UPDATE user SET disabled_at = UTC_TIMESTAMP(3), updated_at = UTC_TIMESTAMP(3) WHERE id = ?',
      [id],
    )
    const { affectedRows } = await change(connection, 'DELETE FROM session WHERE user_id = ?', [id])
    await recordChange(connection, actor, 'person.disable', id, { email, sessions: affectedRows })
  })
}

/** Lets somebody sign in again. Repeats change nothing. */
export async function enablePerson(s: Services, id: string, actor: Actor): Promise<void> {
  await inTransaction(s.database.pool, async (connection) => {
    const { email, disabledAt } = await lockPerson(connection, id, true)
    if (!disabledAt) return
    await change(
      connection,
      'UPDATE user SET disabled_at = NULL, updated_at = UTC_TIMESTAMP(3) WHERE id = ?',
      [id],
    )
    await recordChange(connection, actor, 'person.enable', id, { email })
  })
}

/** Ends all sessions of somebody, at once. @returns how many there were. */
export async function signOutPerson(s: Services, id: string, actor: Actor): Promise<{ ended: number }> {
  return inTransaction(s.database.pool, async (connection) => {
    const { email } = await lockPerson(connection, id, true)
    const { affectedRows } = await change(connection, 'DELETE FROM session WHERE user_id = ?', [id])
    await recordChange(connection, actor, 'person.sign-out', id, { email, sessions: affectedRows })
    return { ended: affectedRows }
  })
}

/**
 * Takes somebody's password and sessions away and makes a link with which they choose a new one. They notice, because their
 * password is of no use any more, and it is on record: an administrator can't act under their name in secret.
 */
export async function resetPassword(s: Services, id: string, actor: Actor): Promise<{ link: string }> {
  await inTransaction(s.database.pool, async (connection) => {
    const { email } = await lockPerson(connection, id, true)
    await change(connection, "DELETE FROM account WHERE user_id = ? AND provider_id = 'credential'", [id])
    await change(connection, 'DELETE FROM session WHERE user_id = ?', [id])
    await recordChange(connection, actor, 'person.reset', id, { email })
  })
  return { link: await createSignInLink(s, id) }
}

/** With all administrators who can sign in locked, so that of the last two not both can go at the same time. */
async function lockPerson(
  connection: Sql,
  id: string,
  staysAdmin: boolean,
): Promise<{ email: string; role: Role; disabledAt: Date | null }> {
  const rows = await select<{ id: string; email: string; role: Role; disabledAt: Date | null }>(
    connection,
    "SELECT id, email, role, disabled_at AS disabledAt FROM user WHERE (role = 'admin' AND disabled_at IS NULL) OR id = ? ORDER BY id FOR UPDATE",
    [id],
  )
  const person = rows.find((one) => one.id === id)
  if (!person) throw noPerson(id)
  if (!staysAdmin && person.role === 'admin' && !person.disabledAt && rows.length === 1)
    throw new UserError(
      `${person.email} is the last administrator; make somebody else one first, or nobody could manage the console.`,
      { code: 'last_admin', values: { email: person.email } },
    )
  return person
}

export const noPerson = (id: string) =>
  new UserError(`There is no account ${id}; the list of people shows those there are.`, {
    code: 'person_unknown',
  })
