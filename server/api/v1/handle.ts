import { TRPCError } from '@trpc/server'
import { env } from '../../../core/env'
import { sentence } from '../../../core/errors'
import { attempt } from '../../attempts'
import { keyHolder } from '../../services/api-keys'
import { openConsole } from '../console'
import { type Context, publicError, requireRole } from '../trpc'
import { findOperation } from './find'
import { once } from './once'
import type { Operation } from './operation'
import { Problem, problemResponse } from './problem'
import { readBody, readParameters } from './read-input'

const BASE = '/api/v1'

/** Answers a request to `/api/v1`, whatever it is. @param open where the parts of the console come from. */
export async function handle(request: Request, open = openConsole): Promise<Response> {
  const requestId = crypto.randomUUID().slice(0, 8)
  let log: (error: unknown) => void = (error) =>
    process.stderr.write(`${JSON.stringify({ level: 'error', requestId, msg: sentence(error) })}\n`)
  try {
    const parts = await open()
    log = (err) =>
      parts.services.log.error({ err, path: new URL(request.url).pathname, requestId }, 'request failed')
    return await answer(request, { ...parts, person: null, requestId })
  } catch (thrown) {
    if (thrown instanceof Problem) return problemResponse(thrown, requestId)
    const error =
      thrown instanceof TRPCError
        ? thrown
        : new TRPCError({ code: 'INTERNAL_SERVER_ERROR', message: sentence(thrown), cause: thrown })
    return problemResponse(
      publicError(error, () => log(error.cause ?? error), requestId),
      requestId,
    )
  }
}

/** In this order: nobody without a key learns or costs anything, and nothing is read for one who may not. */
async function answer(request: Request, stranger: Context): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url)
  const ctx = { ...stranger, person: await holderOf(stranger, request, searchParams) }
  await requireRest(ctx)
  const { operation, values } = findOperation(request.method, pathname.slice(BASE.length))
  requireRole(ctx.person, operation.role)
  const input = readParameters(operation, values, searchParams)
  if (operation.files.taken || operation.files.sent) {
    const result = await operation.carryOut(ctx, input as never, undefined as never, request)
    return result instanceof Response ? result : respond(operation.status, fitting(operation, result))
  }
  const { body, bytes } = await readBody(operation, request)
  const work = async () => ({
    status: operation.status,
    body: fitting(operation, await operation.carryOut(ctx, input as never, body as never, request)),
  })
  const key = operation.once ? request.headers.get('idempotency-key') : null
  if (key === null) {
    const done = await work()
    return respond(done.status, done.body)
  }
  const content = [operation.id, pathname, searchParams.toString(), bytes]
  const done = await once(ctx.services.redis, { sender: ctx.person.id, key, content }, work)
  return respond(done.status, done.body, done.repeated ? { 'idempotency-replayed': 'true' } : {})
}

/** By the key alone: a session's cookie is not looked at, so that no foreign page can act in its name. @throws Problem 401. */
async function holderOf(ctx: Context, request: Request, query: URLSearchParams) {
  const given = request.headers.get('authorization')
  const person = given === null ? null : await keyHolder(ctx.services, given)
  if (person) return person
  if ([...query.values()].some((value) => /orb_[0-9a-f]{12}_/.test(value)))
    throw new Problem(
      401,
      'key_in_address',
      'An API key stands in the address, where logs keep it: revoke it, and send another one as Authorization: Bearer <key>.',
      { 'www-authenticate': 'Bearer realm="orbweaver"' },
    )
  throw given === null
    ? new Problem(
        401,
        'key_missing',
        'Send an API key as Authorization: Bearer <key>; an administrator makes one under Settings, or with: orbweaver api-key.',
        { 'www-authenticate': 'Bearer realm="orbweaver"' },
      )
    : new Problem(
        401,
        'key_invalid',
        'This API key opens nothing: it is wrong, expired or revoked; ask an administrator for another.',
        { 'www-authenticate': 'Bearer realm="orbweaver", error="invalid_token"' },
      )
}

/** @throws Problem 429 when the key has asked too often. */
async function requireRest({ services, person }: Context): Promise<void> {
  const most = env().API_REQUESTS_PER_MINUTE
  if (most === 0) return
  const { allowed, retryAfter } = await attempt(services.redis, `api ${person!.id}`, most, 60_000)
  if (!allowed)
    throw new Problem(
      429,
      'too_many_requests',
      `This key may send ${most} requests a minute (API_REQUESTS_PER_MINUTE); go on in ${retryAfter} s.`,
      { 'retry-after': String(retryAfter) },
    )
}

/** What is documented of an answer, and nothing else. An answer that is otherwise is a fault of ours. */
function fitting({ id, output }: Operation, result: unknown): unknown {
  if (!output) return undefined
  const parsed = output.safeParse(result)
  if (parsed.success) return parsed.data
  throw new Error(`the answer of ${id} is not as documented: ${parsed.error.message}`)
}

const respond = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  body === undefined
    ? new Response(null, { status, headers: { 'cache-control': 'no-store', ...headers } })
    : Response.json(body, { status, headers: { 'cache-control': 'no-store', ...headers } })
