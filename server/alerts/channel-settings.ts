import { asc, eq } from 'drizzle-orm'
import { z } from 'zod'
import { UserError } from '../../core/errors'
import { seal, unseal } from '../../core/seal'
import { inTransaction } from '../../drizzle/database'
import { alertChannels } from '../../drizzle/schema/alerts'
import type { Services } from '../context'
import { change } from '../db'
import { type Actor, recordChange } from '../services/audit-log'
import { CHANNEL_KINDS, CHANNELS, type ChannelKind } from './channels'

/** A channel as it may be shown: without its secrets. */
export interface ChannelView {
  id: number
  kind: ChannelKind
  name: string
  enabled: boolean
  language: 'en' | 'zh-CN'
  /** What tells it from another, such as its host or recipients. */
  shown: string
  settings: Record<string, unknown>
  /** Names of the secrets that it has. */
  kept: string[]
}

export const channelSchema = z.strictObject({
  /** Absent: a new channel. */
  id: z.number().int().positive().optional(),
  kind: z.enum(CHANNEL_KINDS),
  name: z.string().trim().min(1).max(100),
  enabled: z.boolean(),
  language: z.enum(['en', 'zh-CN']),
  /** Those of the kind. A secret that is left out stays as it is. */
  settings: z.record(z.string().max(40), z.unknown()),
})
export type ChannelInput = z.infer<typeof channelSchema>

/** Kept beside the settings of a channel, and no part of them. */
interface Stored {
  shown: string
  kept: string[]
  settings: Record<string, unknown>
}

export async function listChannels(s: Services): Promise<ChannelView[]> {
  const rows = await s.database.orm
    .select()
    .from(alertChannels)
    .orderBy(asc(alertChannels.name), asc(alertChannels.id))
  return rows.map(({ id, kind, name, enabled, language, settings }) => {
    const { shown, kept, settings: open } = settings as unknown as Stored
    return { id, kind: kind as ChannelKind, name, enabled, language, shown, kept, settings: open }
  })
}

/** What a message is sent with: the whole of the settings, secrets included. For the sender alone. @throws UserError as `unseal`. */
export async function openChannel(s: Services, id: number) {
  const row = await rowOf(s, id)
  const { settings } = row.settings as unknown as Stored
  return {
    name: row.name,
    language: row.language,
    kind: row.kind as ChannelKind,
    settings: { ...settings, ...(unseal('alert channels', row.secrets) as Record<string, unknown>) },
  }
}

/** @returns the id. @throws UserError for settings that the kind can't be used with, or an unknown channel. */
export async function saveChannel(s: Services, input: ChannelInput, actor: Actor): Promise<number> {
  const { id, kind, name, enabled, language } = input
  const before = id === undefined ? null : await rowOf(s, id)
  if (before && before.kind !== kind)
    throw new UserError('A channel keeps its kind; make a new one for another kind, and delete this one.')
  const definition = CHANNELS[kind]
  const secretNames: readonly string[] = definition.secret
  const known = before ? (unseal('alert channels', before.secrets) as Record<string, unknown>) : {}
  const parsed = definition.schema.safeParse({ ...known, ...input.settings })
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw new UserError(
      `The channel can't be saved: its ${issue!.path.join('.') || 'settings'} is not usable (${issue!.message}).`,
    )
  }
  const all = Object.entries(parsed.data as Record<string, unknown>).filter(
    ([, value]) => value !== undefined,
  )
  const secrets = Object.fromEntries(all.filter(([key]) => secretNames.includes(key)))
  const stored: Stored = {
    shown: definition.shown(parsed.data as never),
    kept: Object.keys(secrets),
    settings: Object.fromEntries(all.filter(([key]) => !secretNames.includes(key))),
  }
  const columns = {
    kind,
    name,
    enabled,
    language,
    settings: JSON.stringify(stored),
    secrets: seal('alert channels', secrets),
  }
  return inTransaction(s.database.pool, async (connection) => {
    const { insertId } =
      id === undefined
        ? await change(
            connection,
            'INSERT INTO alert_channels SET ?, created_at = UTC_TIMESTAMP(3), updated_at = UTC_TIMESTAMP(3)',
            [columns],
          )
        : await change(
            connection,
            'UPDATE alert_channels SET ?, updated_at = UTC_TIMESTAMP(3) WHERE id = ?',
            [columns, id],
          )
    await recordChange(connection, actor, 'alert.channel', id ?? insertId, { kind, name, enabled, language })
    return id ?? insertId
  })
}

/** Removes a channel with its secrets, and what still was to be sent to it. The log of what it got stays. */
export async function deleteChannel(s: Services, id: number, actor: Actor): Promise<void> {
  await inTransaction(s.database.pool, async (connection) => {
    const { affectedRows } = await change(connection, 'DELETE FROM alert_channels WHERE id = ?', [id])
    if (affectedRows === 0) throw noChannel(id)
    await change(
      connection,
      "DELETE FROM alert_deliveries WHERE channel_id = ? AND state IN ('waiting', 'sending')",
      [id],
    )
    await recordChange(connection, actor, 'alert.channel.delete', id)
  })
}

async function rowOf(s: Services, id: number) {
  const [row] = await s.database.orm.select().from(alertChannels).where(eq(alertChannels.id, id))
  if (!row) throw noChannel(id)
  return row
}

const noChannel = (id: number) =>
  new UserError(`There is no channel ${id}; the page of the alerts shows those there are.`)
