import { TRPCError } from '@trpc/server'
import { getHTTPStatusCodeFromError } from '@trpc/server/http'
import { sentence } from '../../core/errors'
import { createContext } from './context'
import { type Context, faultOf, publicError } from './trpc'

/**
 * Runs a route handler that is no procedure (files in and out) for whoever sent the request; what it throws becomes the
 * answer that a procedure would give.
 */
export async function answer(request: Request, work: (ctx: Context) => Promise<Response>): Promise<Response> {
  let ctx: Context | undefined
  try {
    ctx = await createContext(request.headers)
    return await work(ctx)
  } catch (cause) {
    const thrown =
      cause instanceof TRPCError
        ? cause
        : new TRPCError({
            code: 'INTERNAL_SERVER_ERROR',
            message: sentence(cause),
            ...(cause instanceof Error && { cause }),
          })
    const id = ctx?.requestId ?? ''
    const error = publicError(
      thrown,
      () =>
        ctx?.services.log.error(
          { err: cause, path: new URL(request.url).pathname, requestId: id },
          'request failed',
        ),
      id,
    )
    return Response.json(
      { error: { message: error.message, data: { fault: faultOf(error) } } },
      { status: getHTTPStatusCodeFromError(error) },
    )
  }
}
