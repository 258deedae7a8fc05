import { ownOrigins } from '../console-url'

/** Bytes of a request's body. Nothing the console sends is near it; files have routes of their own. */
const MAX_BODY_BYTES = 1_048_576
const MAX_FILE_BYTES = 4_294_967_296

/**
 * What a browser may be made to send by a foreign page is turned away before anything is parsed: a change must be JSON (a
 * form cannot send that) and must come from the console's own pages by its `Origin`.
 * @returns the answer to give instead, or null when the request is fine.
 */
export function refusal(request: Request): Response | null {
  if (request.method === 'GET') return null
  if (!(request.headers.get('content-type') ?? '').startsWith('application/json'))
    return refuse(415, 'The body must be application/json.')
  return foreign(request) ?? oversize(request, MAX_BODY_BYTES)
}

/** As `refusal`, for a route that takes a file as its body. */
export function fileRefusal(request: Request): Response | null {
  if (!(request.headers.get('content-type') ?? '').startsWith('application/octet-stream'))
    return refuse(415, 'The body must be application/octet-stream.')
  return foreign(request) ?? oversize(request, MAX_FILE_BYTES)
}

function foreign(request: Request): Response | null {
  const origin = request.headers.get('origin')
  if (origin && ownOrigins(request.headers).includes(origin)) return null
  return refuse(403, 'The request does not come from the console’s own pages (Origin).')
}

function oversize(request: Request, most: number): Response | null {
  // Without a length (chunked) the size is unknown until it is read; the console's own client always gives one.
  const length = request.headers.get('content-length')
  if (!length) return refuse(411, 'The request has no Content-Length.')
  if (!(Number(length) <= most)) return refuse(413, `The body is over ${most} bytes.`)
  return null
}

const refuse = (status: number, message: string) => Response.json({ error: { message } }, { status })
