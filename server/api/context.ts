import { TRPCError } from '@trpc/server'
import { sentence } from '../../core/errors'
import { personOf } from '../auth'
import { openConsole } from './console'
import { type Context, publicError } from './trpc'

/**
 * What the procedures of one request work with; the person is whoever the session cookie in `headers` belongs to.
 * @throws TRPCError SERVICE_UNAVAILABLE when Redis or the database is away.
 */
export async function createContext(headers: Headers): Promise<Context> {
  const requestId = crypto.randomUUID().slice(0, 8)
  try {
    const parts = await openConsole()
    return { ...parts, person: await personOf(parts.auth, headers), requestId }
  } catch (cause) {
    const error = new TRPCError({ code: 'INTERNAL_SERVER_ERROR', message: sentence(cause), cause })
    throw publicError(error, () => logFault(cause, requestId), requestId)
  }
}

/** The console may not be open, and then has no log of its own yet. */
function logFault(err: unknown, requestId: string): void {
  process.stderr.write(
    `${JSON.stringify({ level: 'error', time: new Date().toISOString(), requestId, msg: sentence(err) })}\n`,
  )
}
