import { openConsole } from '../../server/api/console'
import { readMetrics } from '../../server/api/metrics'
import { metricsRefusal } from '../../server/api/metrics-access'

export const dynamic = 'force-dynamic'

/** `GET /metrics`: the state of the crawl as Prometheus reads it, for those whom docs/deployment.md names. */
export async function GET(request: Request): Promise<Response> {
  try {
    const { services } = await openConsole()
    const refused = await metricsRefusal(services, request.headers)
    if (refused) return refused
    const { text, contentType } = await readMetrics(services)
    return new Response(text, { headers: { 'content-type': contentType, 'cache-control': 'no-store' } })
  } catch {
    return new Response('Redis or the database does not answer.\n', { status: 503 })
  }
}
