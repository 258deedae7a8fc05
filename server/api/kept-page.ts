import { z } from 'zod'
import { type KeptContent, readKept } from '../services/read-kept'
import { type Context, requireRole } from './trpc'

const question = z.strictObject({
  run: z.coerce.number().int().min(1),
  /** SHA-256 of the canonical URL, as hex. */
  hash: z.string().regex(/^[0-9a-f]{64}$/),
})

/**
 * What a browser may do with a page of somebody else's: show it. It has no origin, runs no script, loads nothing, sends
 * nothing and tells nobody where it was opened.
 */
const HARMLESS = {
  'content-security-policy':
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; form-action 'none'; base-uri 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'private, no-store',
}

/**
 * The content of a page that was kept. HTML and text are shown as such, all else is a download.
 * @throws TRPCError without a session, UserError for a page that was not kept or is no longer there.
 */
export async function keptPage(ctx: Context, asked: { run: string; hash: string }): Promise<Response> {
  requireRole(ctx.person, 'viewer')
  const { run, hash } = question.parse(asked)
  return harmless(await readKept(ctx.services, run, Buffer.from(hash, 'hex')), hash)
}

/** Content of somebody else's, to be shown. @param name of the file, where it is a download. */
export function harmless({ body, contentType, charset }: KeptContent, name: string): Response {
  const shown = /^\s*(text\/html|application\/xhtml\+xml)\b/i.test(contentType)
    ? 'text/html'
    : /^\s*(text\/|application\/([\w.-]+\+)?(json|xml)\b)/i.test(contentType)
      ? 'text/plain'
      : undefined
  return new Response(new Uint8Array(body), {
    headers: {
      ...HARMLESS,
      'content-type': shown ? `${shown}${charset ? `; charset=${charset}` : ''}` : 'application/octet-stream',
      ...(!shown && { 'content-disposition': `attachment; filename="${name.slice(0, 16)}"` }),
    },
  })
}
