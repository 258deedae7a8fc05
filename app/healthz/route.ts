export const dynamic = 'force-dynamic'

/**
 * `GET /healthz`: 200 while this process answers, whatever has become of the servers behind it. For a supervisor, which would
 * otherwise restart it because of a fault elsewhere.
 */
export function GET(): Response {
  return Response.json({ live: true })
}
