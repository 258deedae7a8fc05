import { Readable } from 'node:stream'
import { z } from 'zod'
import { PAGE_FORMATS, type PageFormat, pageFile } from '../services/page-file'
import { pageFilter } from '../services/page-filter'
import { getRun } from '../services/runs'
import { type Context, requireRole } from './trpc'

const question = pageFilter.extend({
  status: z.coerce.number().pipe(pageFilter.shape.status.unwrap()).optional(),
  depth: z.coerce.number().pipe(pageFilter.shape.depth.unwrap()).optional(),
  format: z.enum(Object.keys(PAGE_FORMATS) as [PageFormat, ...PageFormat[]]),
})

/**
 * The pages of a run that answer to a filter as a file, read from the database as fast as the reader takes it.
 * @throws TRPCError without a session, UserError for an unknown run.
 */
export async function downloadPages(ctx: Context, request: Request, run: number): Promise<Response> {
  requireRole(ctx.person, 'viewer')
  const { format, ...filter } = question.parse(Object.fromEntries(new URL(request.url).searchParams))
  await getRun(ctx.services, run)
  const parts = pageFile(ctx.services, run, filter, format)
  return new Response(Readable.toWeb(Readable.from(parts)) as ReadableStream<Uint8Array>, {
    headers: {
      'content-type': `${PAGE_FORMATS[format]}; charset=utf-8`,
      'content-disposition': `attachment; filename="run-${run}-pages.${format}"`,
      'cache-control': 'no-store',
    },
  })
}
