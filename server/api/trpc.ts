import { initTRPC, TRPCError } from '@trpc/server'
import { ZodError } from 'zod'
import { sentence, Unavailable, UnsafeError, UserError } from '../../core/errors'
import { isPassing } from '../../drizzle/database'
import { type Person, ROLES, type Role } from '../auth'
import type { Console } from './console'

/** What a procedure knows of its request. */
export interface Context extends Console {
  person: Person | null
  /** Names the request in the answer and in the log, so that a report can be found. */
  requestId: string
}

const t = initTRPC.context<Context>().create({
  // Never a stack to the client, whatever NODE_ENV says.
  isDev: false,
  sse: { ping: { enabled: true, intervalMs: 2_000 }, client: { reconnectAfterInactivityMs: 6_000 } },
  errorFormatter: ({ shape, ctx, error }) => ({
    ...shape,
    data: {
      code: shape.data.code,
      httpStatus: shape.data.httpStatus,
      path: shape.data.path,
      requestId: ctx?.requestId,
      /** For the console, to say the sentence in its reader's language. */
      fault: faultOf(error),
    },
  }),
})

export const router = t.router
export const createCaller = t.createCallerFactory

/** Turns whatever a procedure threw into what a client may hear; the class alone decides (core/errors.ts). */
const faults = t.middleware(async ({ next, ctx, path }) => {
  const result = await next()
  if (result.ok) return result
  throw publicError(
    result.error,
    () =>
      ctx.services.log.error(
        { err: result.error.cause ?? result.error, path, requestId: ctx.requestId },
        'request failed',
      ),
    ctx.requestId,
  )
})

/** Of a person's mistake, what the console may say instead of the sentence. */
export const faultOf = ({ cause }: TRPCError) => (cause instanceof UserError ? cause.fault : undefined)

/** @param record is called for faults of ours, which the client hears nothing of but the request's id. */
export function publicError(error: TRPCError, record: () => void, requestId: string): TRPCError {
  const { cause } = error
  if (cause instanceof UserError) return new TRPCError({ code: 'BAD_REQUEST', message: cause.message, cause })
  if (cause instanceof ZodError)
    return new TRPCError({ code: 'BAD_REQUEST', message: faultsOf(cause), cause })
  if (cause instanceof Unavailable || cause instanceof UnsafeError)
    return new TRPCError({ code: 'SERVICE_UNAVAILABLE', message: cause.message, cause })
  if (cause && isPassing(cause)) {
    record()
    const message = 'The database or Redis does not answer at the moment; the page tries again by itself.'
    return new TRPCError({ code: 'SERVICE_UNAVAILABLE', message, cause })
  }
  // Thrown as such by a procedure (not signed in, not allowed, not found): its message is meant for the client.
  if (error.code !== 'INTERNAL_SERVER_ERROR') return error
  record()
  return new TRPCError({
    code: 'INTERNAL_SERVER_ERROR',
    message: `Something went wrong in the console; its log has the details under request ${requestId}.`,
  })
}

function faultsOf(error: ZodError): string {
  return error.issues
    .map((issue) => `${issue.path.join('.') || 'input'}: ${sentence(issue.message)}`)
    .join('; ')
}

/** @throws TRPCError UNAUTHORIZED, unless somebody is signed in. */
function requirePerson(person: Person | null): Person {
  if (!person) throw new TRPCError({ code: 'UNAUTHORIZED', message: 'Sign in to use the console.' })
  return person
}

/** @throws TRPCError UNAUTHORIZED or FORBIDDEN, unless the person has at least that role, and the second factor that is asked of them. */
export function requireRole(asker: Person | null, role: Role): Person {
  const person = requirePerson(asker)
  if (person.owesSecondFactor)
    throw new TRPCError({
      code: 'FORBIDDEN',
      message: 'An administrator asks for a second factor of you; set it up at /second-factor first.',
    })
  if (ROLES.indexOf(person.role) < ROLES.indexOf(role))
    throw new TRPCError({
      code: 'FORBIDDEN',
      message: `This takes the role ${role}; yours is ${person.role}.`,
    })
  return person
}

/** The check of every procedure that is not public: it stands here, not in a proxy, so that no path leads around it. */
const atLeast = (role: Role) =>
  t.middleware(({ ctx, next }) => next({ ctx: { ...ctx, person: requireRole(ctx.person, role) } }))

const base = t.procedure.use(faults)

/** For anybody, signed in or not. Only what the sign-in page needs; access-matrix.txt shows them all. */
export const publicProcedure = base
/** For whoever is signed in, also before the second factor that is asked of them: one's own account. */
export const personProcedure = base.use(({ ctx, next }) =>
  next({ ctx: { ...ctx, person: requirePerson(ctx.person) } }),
)
/** May look at everything but secrets. */
export const viewerProcedure = base.use(atLeast('viewer'))
/** May also start, stop, pause and change crawls. */
export const operatorProcedure = base.use(atLeast('operator'))
/** May also manage people, keys and settings. */
export const adminProcedure = base.use(atLeast('admin'))
