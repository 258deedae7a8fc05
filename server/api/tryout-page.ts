import { z } from 'zod'
import { tryoutPage } from '../services/tryouts'
import { harmless } from './kept-page'
import { type Context, requireRole } from './trpc'

const question = z.strictObject({
  id: z.string().regex(/^[0-9a-f]{32}$/),
  queue: z.string().min(1).max(64),
})

/**
 * The page that a trial fetched, to be looked at by whoever asked for it.
 * @throws TRPCError for anybody below operator, UserError for a trial of somebody else or of long ago.
 */
export async function tryoutContent(ctx: Context, asked: { id: string; queue: string }): Promise<Response> {
  const person = requireRole(ctx.person, 'operator')
  const { head, body } = await tryoutPage(ctx.services, question.parse(asked), person)
  return harmless({ body, contentType: head.contentType ?? '', charset: head.charset }, asked.id)
}
