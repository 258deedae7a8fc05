import { z } from 'zod'
import type { Role } from '../../auth'
import { appRouter } from '../root'
import { type Context, createCaller } from '../trpc'

const caller = createCaller(appRouter)
/** The console's procedures, for whoever the context says. */
export type Procedures = ReturnType<typeof caller>
export const proceduresFor = (ctx: Context): Procedures => caller(ctx)

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export type Method = (typeof METHODS)[number]

/** Bytes of a body of JSON. */
export const USUAL_BODY_BYTES = 1_048_576

interface Description {
  /** Name of the operation in clients, such as `startRun`. */
  id: string
  /** `METHOD /path/{name}`, below `/api/v1`. */
  route: `${Method} /${string}`
  tag: string
  /** The lowest role that may: the same as the procedure's, asked before anything of the request is read. */
  role: Role
  summary: string
  description?: string
}

/** One operation of the API, as it is found, checked, carried out and described. */
export interface Operation extends Description {
  method: Method
  /** The path in its parts; a part in braces is a name in `path`. */
  parts: string[]
  path: z.ZodObject
  query: z.ZodObject
  body: z.ZodType | null
  bodyBytes: number
  /** A repetition would do something a second time; an Idempotency-Key prevents that. */
  once: boolean
  /** Of the answer when all went well. */
  status: number
  output: z.ZodType | null
  /** Media types of the answer or the body that are no JSON. */
  files: { sent?: readonly string[]; taken?: string }
  /** @param input path and query together, checked. */
  carryOut(ctx: Context, input: never, body: never, request: Request): Promise<unknown>
}

interface Options<P extends z.ZodRawShape, Q extends z.ZodRawShape, B extends z.ZodType, O extends z.ZodType>
  extends Description {
  path?: P
  query?: Q
  body?: B
  bodyBytes?: number
  once?: boolean
  status?: 200 | 201 | 202
  /** Absent: there is nothing to say, and the answer is 204. */
  output?: O
  call(
    procedures: Procedures,
    input: z.output<z.ZodObject<P>> & z.output<z.ZodObject<Q>>,
    body: z.output<B>,
  ): Promise<z.input<O>>
}

/** An operation that calls procedures of the console, which check the role and do the work. */
export function operation<
  P extends z.ZodRawShape = Record<never, never>,
  Q extends z.ZodRawShape = Record<never, never>,
  B extends z.ZodType = z.ZodUndefined,
  O extends z.ZodType = z.ZodVoid,
>(options: Options<P, Q, B, O>): Operation {
  const { path, query, body, bodyBytes, once, status, output, call, ...description } = options
  return {
    ...described(description, path, query),
    body: body ?? null,
    bodyBytes: bodyBytes ?? USUAL_BODY_BYTES,
    once: once ?? false,
    status: status ?? (output ? 200 : 204),
    output: output ?? null,
    files: {},
    carryOut: (ctx, input, content) => call(proceduresFor(ctx), input, content),
  }
}

interface FileOptions<P extends z.ZodRawShape, Q extends z.ZodRawShape> extends Description {
  path?: P
  query?: Q
  files: { sent?: readonly string[]; taken?: string }
  output?: z.ZodType
  /** A response is passed on as it is, anything else becomes JSON. */
  carryOut(
    ctx: Context,
    input: z.output<z.ZodObject<P>> & z.output<z.ZodObject<Q>>,
    body: undefined,
    request: Request,
  ): Promise<unknown>
}

/** An operation whose body or answer is a file; what it calls checks the role itself. */
export function fileOperation<
  P extends z.ZodRawShape = Record<never, never>,
  Q extends z.ZodRawShape = Record<never, never>,
>(options: FileOptions<P, Q>): Operation {
  const { path, query, files, output, carryOut, ...description } = options
  return {
    ...described(description, path, query),
    body: null,
    bodyBytes: 0,
    once: false,
    status: 200,
    output: output ?? null,
    files,
    carryOut,
  }
}

function described(description: Description, path: z.ZodRawShape = {}, query: z.ZodRawShape = {}) {
  const [method, route] = description.route.split(' ') as [Method, string]
  return {
    ...description,
    method,
    parts: route.split('/').slice(1),
    path: z.strictObject(path),
    query: z.strictObject(query),
  }
}
