import { type NextRequest, NextResponse } from 'next/server'

/**
 * Gives each page a content security policy with a nonce of its own, so that only scripts the console itself put there
 * run. Next demands that this file stand here. It decides nothing else: who may see what is checked in each procedure.
 */
export function proxy(request: NextRequest): NextResponse {
  const nonce = btoa(crypto.randomUUID())
  const policy = [
    "default-src 'self'",
    `script-src 'self' 'nonce-${nonce}' 'strict-dynamic'`,
    // Styles set on single elements (positions of bars, menus, charts) can't carry a nonce.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')
  const headers = new Headers(request.headers)
  headers.set('x-nonce', nonce)
  headers.set('content-security-policy', policy)
  const response = NextResponse.next({ request: { headers } })
  response.headers.set('content-security-policy', policy)
  return response
}

// Not for the API, whose answers are no pages (its documentation is one): what passes through here is buffered whole, files included.
export const config = {
  matcher: ['/((?!api/|_next/static|_next/image|icon.svg|(?:healthz|readyz|metrics)(?:/|$)).*)', '/api/docs'],
}
