import { openConsole } from '../../server/api/console'
import { health, NOTHING_READY } from '../../server/api/readiness'

export const dynamic = 'force-dynamic'

/** `GET /readyz`: 200 when this process can serve (Redis and the database answer, the tables are there), 503 when not. */
export async function GET(): Promise<Response> {
  const state = await openConsole().then(
    ({ services }) => health(services),
    () => NOTHING_READY,
  )
  return Response.json(state, { status: state.ready ? 200 : 503 })
}
