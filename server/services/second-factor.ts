import { inTransaction } from '../../drizzle/database'
import type { Services } from '../context'
import { change, select } from '../db'
import { type Actor, recordChange } from './audit-log'
import { noPerson } from './people'

/** From now on somebody who has no second factor can do nothing but set one up; or may do without again. */
export async function requireSecondFactor(
  s: Services,
  id: string,
  required: boolean,
  actor: Actor,
): Promise<void> {
  await inTransaction(s.database.pool, async (connection) => {
    const [person] = await select<{ email: string; required: number }>(
      connection,
      'SELECT email, second_factor_required AS required FROM user WHERE id = ? FOR UPDATE',
      [id],
    )
    if (!person) throw noPerson(id)
    if (Boolean(person.required) === required) return
    await change(
      connection,
      'UPDATE user SET second_factor_required = ?, updated_at = UTC_TIMESTAMP(3) WHERE id = ?',
      [required, id],
    )
    await recordChange(connection, actor, 'person.second-factor.require', id, {
      email: person.email,
      required,
    })
  })
}

/**
 * Takes somebody's second factor away, with its backup codes, and ends their sessions: for who has lost the device. Their password
 * alone lets them in from then on; where a second factor is required of them, only to set up another. Repeats change nothing.
 */
export async function resetSecondFactor(s: Services, id: string, actor: Actor): Promise<void> {
  await inTransaction(s.database.pool, async (connection) => {
    const [person] = await select<{ email: string; enabled: number }>(
      connection,
      'SELECT email, two_factor_enabled AS enabled FROM user WHERE id = ? FOR UPDATE',
      [id],
    )
    if (!person) throw noPerson(id)
    await change(connection, 'DELETE FROM two_factor WHERE user_id = ?', [id])
    if (!person.enabled) return
    await change(
      connection,
      'UPDATE user SET two_factor_enabled = FALSE, updated_at = UTC_TIMESTAMP(3) WHERE id = ?',
      [id],
    )
    await change(connection, 'DELETE FROM session WHERE user_id = ?', [id])
    await recordChange(connection, actor, 'person.second-factor.reset', id, { email: person.email })
  })
}
