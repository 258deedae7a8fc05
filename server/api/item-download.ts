import { Readable } from 'node:stream'
import { z } from 'zod'
import { UserError } from '../../core/errors'
import { ITEM_FORMATS, type ItemFormat, itemFile } from '../services/item-file'
import { allItems, itemKinds } from '../services/item-list'
import { getRun } from '../services/runs'
import { type Context, requireRole } from './trpc'

const question = z.strictObject({
  kind: z.string().min(1).max(64),
  format: z.enum(Object.keys(ITEM_FORMATS) as [ItemFormat, ...ItemFormat[]]),
  /** Names of fields with a comma between; absent: all of the kind. */
  fields: z.string().max(20_000).optional(),
  mark: z.literal('1').optional(),
})

/**
 * A run's items of one kind as a file, read from the database as fast as the reader takes it.
 * @throws TRPCError without a session, UserError for an unknown run, kind or field.
 */
export async function downloadItems(ctx: Context, request: Request, run: number): Promise<Response> {
  requireRole(ctx.person, 'viewer')
  const asked = question.parse(Object.fromEntries(new URL(request.url).searchParams))
  const kind = itemKinds((await getRun(ctx.services, run)).definition).find((one) => one.name === asked.kind)
  if (!kind)
    throw new UserError(`Run ${run} takes no items "${asked.kind}"; its page lists the kinds there are.`)
  const fields = asked.fields === undefined ? kind.fields : asked.fields.split(',').filter(Boolean)
  const unknown = fields.find((field) => !kind.fields.includes(field))
  if (unknown !== undefined)
    throw new UserError(
      `Items "${kind.name}" have no field "${unknown}"; they have ${kind.fields.join(', ')}.`,
    )
  const parts = itemFile(allItems(ctx.services, run, kind.name), {
    format: asked.format,
    fields,
    mark: asked.mark === '1',
  })
  return new Response(Readable.toWeb(Readable.from(bytes(parts))) as ReadableStream<Uint8Array>, {
    headers: {
      'content-type': `${ITEM_FORMATS[asked.format]}; charset=utf-8`,
      'content-disposition': `attachment; filename="run-${run}-${kind.name}.${asked.format}"`,
      'cache-control': 'no-store',
    },
  })
}

/** In pieces of a size that is worth sending. */
async function* bytes(parts: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  let text = ''
  for await (const part of parts) {
    text += part
    if (text.length < 65_536) continue
    yield encoder.encode(text)
    text = ''
  }
  yield encoder.encode(text)
}
