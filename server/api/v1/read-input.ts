import type { z } from 'zod'
import type { Operation } from './operation'
import { inputProblem, Problem } from './problem'

/** A client that sends more slowly than this is not waited for. */
const BODY_MS = 30_000
/** Brackets within brackets; what comes after is no input of ours, and would only burden what reads it. */
const DEEPEST = 64

/** Path and query of a request, checked. @throws Problem 400. */
export function readParameters(operation: Operation, path: Record<string, string>, query: URLSearchParams) {
  const given: Record<string, string> = {}
  for (const [name, value] of query) {
    if (name in given)
      throw new Problem(400, 'input', `The query has ${JSON.stringify(name)} more than once; send it once.`)
    Object.defineProperty(given, name, { value, enumerable: true })
  }
  return { ...checked(operation.path, path, 'path'), ...checked(operation.query, given, 'query') }
}

function checked(schema: z.ZodObject, given: Record<string, string>, part: string): Record<string, unknown> {
  const typed = Object.entries(given).map(([name, text]) => [name, typedAs(schema.shape[name], text)])
  const result = schema.safeParse(Object.fromEntries(typed))
  if (result.success) return result.data
  throw inputProblem(result.error, part)
}

/** A text as the number or truth that is wanted there; what is neither is left to the schema, which refuses it. */
function typedAs(schema: z.core.$ZodType | undefined, text: string): unknown {
  const kind = schema && kindOf(schema)
  if (kind === 'number' && /^-?\d{1,15}$/.test(text)) return Number(text)
  if (kind === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

function kindOf(schema: z.core.$ZodType): string {
  const { type, innerType } = schema._zod.def as { type: string; innerType?: z.core.$ZodType }
  return innerType ? kindOf(innerType) : type
}

/** The body as JSON, checked, and its bytes. @throws Problem 400, 408, 413 or 415. */
export async function readBody(
  operation: Operation,
  request: Request,
): Promise<{ body: unknown; bytes: Uint8Array }> {
  const schema = operation.body
  if (!schema) {
    const bytes = await bytesOf(request, 0)
    return { body: undefined, bytes }
  }
  if (!/^application\/json\s*(;|$)/i.test(request.headers.get('content-type') ?? ''))
    throw new Problem(415, 'media_type', 'The body must be JSON; send Content-Type: application/json.')
  const bytes = await bytesOf(request, operation.bodyBytes)
  const result = schema.safeParse(jsonOf(bytes))
  if (!result.success) throw inputProblem(result.error, 'body')
  return { body: result.data, bytes }
}

/** Read here rather than by the platform, which would take any length and wait for ever. */
async function bytesOf(request: Request, most: number): Promise<Uint8Array> {
  const tooLarge = () =>
    most === 0
      ? new Problem(400, 'input', 'This takes no body; leave it out.', { connection: 'close' })
      : new Problem(413, 'body_size', `The body is over ${most} bytes; send it in parts.`, {
          connection: 'close',
        })
  if (Number(request.headers.get('content-length') ?? 0) > most) throw tooLarge()
  const reader = request.body?.getReader()
  if (!reader) return new Uint8Array()
  const parts: Uint8Array[] = []
  let size = 0
  let late = false
  const timer = setTimeout(() => {
    late = true
    reader.cancel().catch(() => {})
  }, BODY_MS)
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (late)
        throw new Problem(408, 'body_slow', 'The body did not arrive within 30 s; send it again.', {
          connection: 'close',
        })
      if (done) return Buffer.concat(parts)
      size += value.byteLength
      if (size > most) {
        reader.cancel().catch(() => {})
        throw tooLarge()
      }
      parts.push(value)
    }
  } catch (error) {
    if (error instanceof Problem) throw error
    throw new Problem(400, 'body_broken', 'The body was broken off; send it again.', { connection: 'close' })
  } finally {
    clearTimeout(timer)
  }
}

function jsonOf(bytes: Uint8Array): unknown {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new Problem(400, 'json', 'The body is not UTF-8; encode it so.')
  }
  if (isDeep(text))
    throw new Problem(
      400,
      'json',
      `The body has more than ${DEEPEST} brackets within one another; send less deep JSON.`,
    )
  try {
    return JSON.parse(text)
  } catch {
    throw new Problem(400, 'json', 'The body is not JSON; look for a missing quote, comma or bracket.')
  }
}

/** One pass, whatever the text is: an expression over it could be made to go on for ever. */
function isDeep(text: string): boolean {
  let depth = 0
  let quoted = false
  for (let at = 0; at < text.length; at++) {
    const one = text.charCodeAt(at)
    if (one === QUOTE) quoted = !quoted
    else if (quoted) {
      if (one === BACKSLASH) at++
    } else if (OPENING.includes(one)) {
      if (++depth > DEEPEST) return true
    } else if (CLOSING.includes(one)) depth--
  }
  return false
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPENING = [0x5b, 0x7b]
const CLOSING = [0x5d, 0x7d]
