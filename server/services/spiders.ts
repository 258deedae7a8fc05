import { asc, eq } from 'drizzle-orm'
import { UserError } from '../../core/errors'
import { DEFAULT_SPIDER, type Spider } from '../../core/spider'
import { checkSpider } from '../../core/spider-check'
import { inTransaction } from '../../drizzle/database'
import { spiders } from '../../drizzle/schema/crawl'
import type { Services } from '../context'
import { change, select } from '../db'
import { type Actor, recordChange } from './audit-log'

export interface SavedSpider {
  id: number
  name: string
  version: number
  definition: Spider
}

/**
 * Stores a spider under its name: a new one as version 1, a changed one as the next version, an unchanged one not at all.
 * @param from the version that `input` was made from, 0 for none; absent: whatever is there is replaced.
 * @throws UserError that names the field and its fault, or when the spider is at another version than `from`.
 */
export async function saveSpider(
  s: Services,
  input: unknown,
  actor: Actor,
  from?: number,
): Promise<SavedSpider> {
  const definition = checkSpider(input)
  const text = JSON.stringify(definition)
  return inTransaction(s.database.pool, async (connection) => {
    // Made first, so that two who save the same new name meet at its row.
    const made = await change(
      connection,
      'INSERT IGNORE INTO spiders (name, definition, version, created_at, updated_at) VALUES (?, ?, 0, UTC_TIMESTAMP(3), UTC_TIMESTAMP(3))',
      [definition.name, text],
    )
    const [row] = await select<{ id: number; version: number; definition: string }>(
      connection,
      'SELECT id, version, definition FROM spiders WHERE name = ? FOR UPDATE',
      [definition.name],
    )
    const { id, version: before } = row!
    if (from !== undefined && from !== before)
      throw new UserError(
        from === 0
          ? `There is a spider "${definition.name}" already; give the new one another name.`
          : `The spider "${definition.name}" was changed meanwhile (it is at version ${before}); copy what you changed, load the page again and change that.`,
        {
          code: from === 0 ? 'spider_there' : 'spider_changed',
          values: { name: definition.name, version: before },
        },
      )
    if (before > 0 && row!.definition === text)
      return { id, name: definition.name, version: before, definition }
    const version = before + 1
    await change(
      connection,
      'UPDATE spiders SET definition = ?, version = ?, updated_at = UTC_TIMESTAMP(3) WHERE id = ?',
      [text, version, id],
    )
    await change(
      connection,
      'INSERT INTO spider_versions (spider_id, version, definition, author, created_at) VALUES (?, ?, ?, ?, UTC_TIMESTAMP(3))',
      [id, version, text, actor.slice(0, 191)],
    )
    await recordChange(
      connection,
      actor,
      made.affectedRows > 0 ? 'spider.create' : 'spider.update',
      definition.name,
      {
        version,
      },
    )
    return { id, name: definition.name, version, definition }
  })
}

/** A spider by id or name. @throws UserError when there is none. */
export async function getSpider(s: Services, which: number | string): Promise<SavedSpider> {
  const [row] = await s.database.orm
    .select()
    .from(spiders)
    .where(typeof which === 'number' ? eq(spiders.id, which) : eq(spiders.name, which))
  if (!row)
    throw new UserError(
      `There is no spider ${typeof which === 'number' ? `with id ${which}` : `"${which}"`}; save it first, or name another.`,
      { code: 'spider_unknown', values: { spider: String(which) } },
    )
  return { id: row.id, name: row.name, version: row.version, definition: row.definition }
}

/** All spiders by name, without their definitions. */
export async function listSpiders(
  s: Services,
): Promise<{ id: number; name: string; version: number; updatedAt: Date }[]> {
  return s.database.orm
    .select({ id: spiders.id, name: spiders.name, version: spiders.version, updatedAt: spiders.updatedAt })
    .from(spiders)
    .orderBy(asc(spiders.name))
}

/** The built-in spider that takes what names no other; stored on first use and never overwritten after that. */
export async function ensureDefaultSpider(s: Services): Promise<SavedSpider> {
  await change(
    s.database.pool,
    'INSERT IGNORE INTO spiders (name, definition, version, created_at, updated_at) VALUES (?, ?, 1, UTC_TIMESTAMP(3), UTC_TIMESTAMP(3))',
    [DEFAULT_SPIDER.name, JSON.stringify(DEFAULT_SPIDER)],
  )
  return getSpider(s, DEFAULT_SPIDER.name)
}
