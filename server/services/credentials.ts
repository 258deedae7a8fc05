import { asc, eq } from 'drizzle-orm'
import { z } from 'zod'
import { type CREDENTIAL_KINDS, type Credentials, credentialsPlace } from '../../core/credentials'
import { UserError } from '../../core/errors'
import { seal } from '../../core/seal'
import { tryCanonicalise } from '../../core/url'
import { inTransaction } from '../../drizzle/database'
import { spiderCredentials } from '../../drizzle/schema/crawl'
import type { Services } from '../context'
import { change } from '../db'
import { type Actor, recordChange } from './audit-log'
import { getSpider } from './spiders'

/** No line of a header can be smuggled in. */
const line = (most: number) =>
  z
    .string()
    .min(1)
    .max(most)
    .regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'must be one line of Latin characters')
/** What the connection itself writes, and what goes to other origins as well. */
const RESERVED =
  /^(host|connection|keep-alive|proxy-.*|transfer-encoding|content-length|te|trailer|upgrade|expect|cookie|user-agent|accept|accept-language|accept-encoding)$/i
const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/, 'must be the name of a header')

export const credentialsSchema: z.ZodType<Credentials, unknown> = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('basic'),
    // RFC 7617 §2: a colon would end the user.
    user: z
      .string()
      .max(200)
      .regex(/^[^:\p{Cc}]*$/u, 'must have no colon and no control character'),
    password: z
      .string()
      .max(1000)
      .regex(/^\P{Cc}*$/u, 'must have no control character'),
  }),
  z.strictObject({ kind: z.literal('bearer'), token: line(4000) }),
  z.strictObject({
    kind: z.literal('headers'),
    headers: z
      .record(headerName, line(4000))
      .refine((headers) => [1, 2, 3, 4, 5].includes(Object.keys(headers).length), 'must be one to five')
      .refine(
        (headers) => !Object.keys(headers).some((name) => RESERVED.test(name)),
        'has one that is not a header to sign in with',
      ),
  }),
])

export interface ShownCredentials {
  origin: string
  kind: (typeof CREDENTIAL_KINDS)[number]
  /** The user, or the names of the headers; empty for a token. */
  shown: string
  author: string
  /** ms since 1970. */
  updatedAt: number
}

/** What a spider signs in with, without what is secret of it. */
export async function listCredentials(s: Services, spider: number): Promise<ShownCredentials[]> {
  const rows = await s.database.orm
    .select()
    .from(spiderCredentials)
    .where(eq(spiderCredentials.spiderId, spider))
    .orderBy(asc(spiderCredentials.origin))
  return rows.map(({ origin, kind, shown, author, updatedAt }) => ({
    ...{ origin, kind, shown, author },
    updatedAt: updatedAt.getTime(),
  }))
}

/**
 * From now on the spider signs in so at this origin, and at no other; what was there is replaced. Workers heed it within 30 s.
 * @param origin such as `https://example.com`; a URL of the site will do.
 * @throws UserError for an unknown spider, what is no origin, or credentials that cannot be sent.
 */
export async function saveCredentials(
  s: Services,
  { spider, origin, credentials }: { spider: number; origin: string; credentials: unknown },
  actor: Actor,
): Promise<void> {
  const { name } = await getSpider(s, spider)
  const at = originOf(origin)
  const result = credentialsSchema.safeParse(credentials)
  if (!result.success) {
    const [issue] = result.error.issues
    // Never with the value: it is a secret.
    throw new UserError(`The credentials are not usable: ${issue!.path.join('.')} ${issue!.message}.`)
  }
  const { data } = result
  const sealed = seal('spider credentials', data, credentialsPlace(spider, at))
  await inTransaction(s.database.pool, async (connection) => {
    await change(
      connection,
      'INSERT INTO spider_credentials (spider_id, origin, kind, shown, sealed, author, updated_at) VALUES (?, ?, ?, ?, ?, ?, UTC_TIMESTAMP(3)) ON DUPLICATE KEY UPDATE kind = VALUES(kind), shown = VALUES(shown), sealed = VALUES(sealed), author = VALUES(author), updated_at = VALUES(updated_at)',
      [spider, at, data.kind, shownOf(data), sealed, actor.slice(0, 191)],
    )
    await recordChange(connection, actor, 'spider.credentials', name, { origin: at, kind: data.kind })
  })
}

/** From now on the spider does not sign in there. Repeats change nothing. */
export async function removeCredentials(
  s: Services,
  { spider, origin }: { spider: number; origin: string },
  actor: Actor,
): Promise<void> {
  const { name } = await getSpider(s, spider)
  await inTransaction(s.database.pool, async (connection) => {
    const { affectedRows } = await change(
      connection,
      'DELETE FROM spider_credentials WHERE spider_id = ? AND origin = ?',
      [spider, origin],
    )
    if (affectedRows > 0) await recordChange(connection, actor, 'spider.credentials.remove', name, { origin })
  })
}

function originOf(text: string): string {
  const url = tryCanonicalise(text.trim())
  const origin = url && new URL(url).origin
  if (!origin || origin.length > 300)
    throw new UserError(`"${text.slice(0, 100)}" is not a site; write one such as https://example.com.`, {
      code: 'origin_malformed',
      values: { origin: text.slice(0, 100) },
    })
  return origin
}

function shownOf(credentials: Credentials): string {
  if (credentials.kind === 'basic') return credentials.user
  return credentials.kind === 'headers' ? Object.keys(credentials.headers).join(', ') : ''
}
