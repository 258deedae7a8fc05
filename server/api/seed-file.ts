import { z } from 'zod'
import { UserError } from '../../core/errors'
import { COLUMN_ROLES } from '../services/seed-columns'
import { importSeeds } from '../services/seeds'
import { ENCODINGS } from '../services/text-lines'
import { type Context, requireRole } from './trpc'

/** What stands beside the file, as JSON in the query's `as`. */
const choice = z.strictObject({
  spider: z.number().int().positive(),
  fileName: z.string().min(1).max(255),
  wholeOnly: z.boolean(),
  encoding: z.enum(ENCODINGS).optional(),
  columns: z
    .strictObject({
      delimiter: z.string().length(1),
      header: z.boolean(),
      roles: z
        .array(z.enum(COLUMN_ROLES))
        .min(1)
        .max(1000)
        .refine((roles) => roles.filter((role) => role === 'url').length === 1, {
          message: 'needs exactly one column with the URL',
        }),
    })
    .optional(),
})

const askedIn = (request: Request): unknown =>
  JSON.parse(new URL(request.url).searchParams.get('as') ?? 'null')

/**
 * Takes a file of seeds as it arrives: what the database can't keep up with waits in the browser, not here. An upload that
 * is broken off, by the person or by the network, leaves nothing behind.
 * @throws TRPCError without the role operator, UserError when the file is not usable.
 */
export async function takeSeedFile(ctx: Context, request: Request, asked = askedIn(request)) {
  const person = requireRole(ctx.person, 'operator')
  const { encoding, columns, ...input } = choice.parse(asked)
  return importSeeds(ctx.services, {
    ...input,
    ...(encoding && { encoding }),
    ...(columns && { columns }),
    stream: whole(request),
    actor: person.email,
  })
}

/** The body, which must be as long as was said: one that is cut short may look the same as one that ends. */
async function* whole(request: Request): AsyncGenerator<Uint8Array> {
  let left = Number(request.headers.get('content-length'))
  try {
    for await (const part of (request.body ?? []) as AsyncIterable<Uint8Array>) {
      left -= part.byteLength
      yield part
    }
  } catch (cause) {
    throw brokenOff(cause)
  }
  if (left !== 0) throw brokenOff()
}

const brokenOff = (cause?: unknown) =>
  new UserError(
    'The upload was broken off, so nothing of the file was kept; upload it again.',
    { code: 'upload_broken' },
    { cause },
  )
