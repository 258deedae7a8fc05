import type { TRPCError } from '@trpc/server'
import { getHTTPStatusCodeFromError } from '@trpc/server/http'
import { ZodError, z } from 'zod'
import { sentence } from '../../../core/errors'
import { faultOf } from '../trpc'

/** The answer to everything that did not go well. */
export const problemSchema = z
  .object({
    error: z.object({
      code: z.string().describe('A word for programs, such as `run_unknown`.'),
      message: z.string().describe('What is wrong and what to do about it.'),
      request: z.string().describe('Names the request in the log of the console.'),
      faults: z
        .array(z.object({ at: z.string(), message: z.string() }))
        .optional()
        .describe('With `input`: each place of the input that can’t be used.'),
    }),
  })
  .meta({ id: 'Problem' })

/** What the API itself refuses, before or instead of a procedure. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly headers: Record<string, string> = {},
    readonly faults?: { at: string; message: string }[],
  ) {
    super(message)
  }
}

/** @param part where the input was: `path`, `query` or `body`. */
export function inputProblem(error: ZodError, part: string): Problem {
  const faults = error.issues.map((issue) => ({
    at: [part, ...issue.path].join('.'),
    message: sentence(issue.message),
  }))
  const told = faults.slice(0, 20)
  const words = told.map(({ at, message }) => `${at}: ${message}`).join('; ')
  return new Problem(
    400,
    'input',
    `The input can’t be used: ${words}. /api/docs says what it takes.`,
    {},
    told,
  )
}

/** @param thrown a Problem, or a TRPCError as `publicError` made it: only what a client may hear. */
export function problemResponse(thrown: Problem | TRPCError, request: string): Response {
  const { status, code, headers, faults } = thrown instanceof Problem ? thrown : translated(thrown)
  const error = { code, message: thrown.message, request, ...(faults && { faults }) }
  return Response.json({ error }, { status, headers: { 'cache-control': 'no-store', ...headers } })
}

/** Faults of people that are no fault of their input's form: of what is there, or is no longer as it was. */
const CONFLICTS = ['spider_there', 'spider_changed', 'import_busy', 'address_taken']

function translated(error: TRPCError): Pick<Problem, 'status' | 'code' | 'headers' | 'faults'> {
  const fault = faultOf(error)
  const code = fault?.code ?? error.code.toLowerCase()
  if (error.code === 'SERVICE_UNAVAILABLE') return { status: 503, code, headers: { 'retry-after': '5' } }
  if (error.code !== 'BAD_REQUEST' || error.cause instanceof ZodError)
    return { status: getHTTPStatusCodeFromError(error), code, headers: {} }
  if (!fault) return { status: 422, code: 'refused', headers: {} }
  const status =
    /_unknown$|^queue_no_run$/.test(code) && code !== 'zone_unknown'
      ? 404
      : CONFLICTS.includes(code)
        ? 409
        : 422
  return { status, code, headers: {} }
}
