import { Readable } from 'node:stream'
import { z } from 'zod'
import { ACTIONS } from '../services/audit-log'
import { CHANGE_FORMATS, type ChangeFormat, changeFile } from '../services/change-file'
import { type Context, requireRole } from './trpc'

const text = z.string().trim().min(1).max(191).optional()
const instant = z.coerce.number().int().min(0).max(8_640_000_000_000_000).optional()
const question = z.strictObject({
  actor: text,
  action: z.enum(ACTIONS).optional(),
  subject: text,
  from: instant,
  to: instant,
  format: z.enum(Object.keys(CHANGE_FORMATS) as [ChangeFormat, ...ChangeFormat[]]),
})

/** The audit log, or what a filter leaves of it, as a file. @throws TRPCError for all but administrators. */
export async function downloadChanges(ctx: Context, request: Request): Promise<Response> {
  requireRole(ctx.person, 'admin')
  const { format, from, to, ...filter } = question.parse(
    Object.fromEntries(new URL(request.url).searchParams),
  )
  const parts = changeFile(
    ctx.services,
    {
      ...filter,
      from: from === undefined ? undefined : new Date(from),
      to: to === undefined ? undefined : new Date(to),
    },
    format,
  )
  return new Response(Readable.toWeb(Readable.from(parts)) as ReadableStream<Uint8Array>, {
    headers: {
      'content-type': `${CHANGE_FORMATS[format]}; charset=utf-8`,
      'content-disposition': `attachment; filename="audit-log.${format}"`,
      'cache-control': 'no-store',
    },
  })
}
