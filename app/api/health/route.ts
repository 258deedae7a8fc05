import { openConsole } from '../../../server/api/console'
import { health } from '../../../server/api/readiness'

export const dynamic = 'force-dynamic'

/**
 * `GET /api/health`: 200 when Redis and the database answer, 503 when not. `?probe=live` asks only whether this process
 * does, for a supervisor that would otherwise restart it because of a fault elsewhere.
 */
export async function GET(request: Request): Promise<Response> {
  if (new URL(request.url).searchParams.get('probe') === 'live') return Response.json({ live: true })
  const state = await openConsole().then(
    ({ services }) => health(services),
    () => ({ ready: false, redis: false, database: false }),
  )
  return Response.json({ live: true, ...state }, { status: state.ready ? 200 : 503 })
}
