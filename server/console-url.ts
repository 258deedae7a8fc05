import { env } from '../core/env'

/** Where people open the console, without a slash at the end. */
export function consoleUrl(): string {
  const { PUBLIC_URL, HTTP_HOST, HTTP_PORT } = env()
  const host = HTTP_HOST === '0.0.0.0' || HTTP_HOST === '::' ? '127.0.0.1' : HTTP_HOST
  return (PUBLIC_URL ?? `http://${host}:${HTTP_PORT}`).replace(/\/+$/, '')
}

/**
 * The origins a request that changes something may come from: the console's public address, and the address this very
 * request was sent to (so that both `127.0.0.1` and `localhost` work). A browser sets `Origin` and `Host` itself; a
 * foreign page can match neither while carrying the session's cookie.
 */
export function ownOrigins(headers: Headers | undefined): string[] {
  const host = headers?.get('host')
  return [new URL(consoleUrl()).origin, ...(host ? [`http://${host}`, `https://${host}`] : [])]
}
