import { ownOrigins } from '../console-url'

/** Bytes of a request's body. Nothing the console sends is near it; files will have a route of their own. */
const MAX_BODY_BYTES = 1_048_576

/**
 * What a browser may be made to send by a foreign page is turned away before anything is parsed: a change must be JSON (a
 * form cannot send that) and must come from the console's own pages by its `Origin`.
 * @returns the answer to give instead, or null when the request is fine.
 */
export function refusal(request: Request): Response | null {
  if (request.method === 'GET') return null
  if (!(request.headers.get('content-type') ?? '').startsWith('application/json'))
    return refuse(415, 'The body must be application/json.')
  const origin = request.headers.get('origin')
  if (!origin || !ownOrigins(request.headers).includes(origin))
    return refuse(403, 'The request does not come from the console’s own pages (Origin).')
  // Without a length (chunked) the size is unknown until it is read; the console's own client always gives one.
  const length = request.headers.get('content-length')
  if (!length) return refuse(411, 'The request has no Content-Length.')
  if (Number(length) > MAX_BODY_BYTES) return refuse(413, `The body is over ${MAX_BODY_BYTES} bytes.`)
  return null
}

const refuse = (status: number, message: string) => Response.json({ error: { message } }, { status })
