import { createHash, timingSafeEqual } from 'node:crypto'
import { env } from '../../core/env'
import { isWithin } from '../client-address'
import type { Services } from '../context'
import { keyHolder } from '../services/api-keys'

/**
 * Whether a request may not read the metrics: it must bring METRICS_TOKEN or an API key, or come from METRICS_NETWORKS. None of
 * them is there by itself, so that nobody reads them unless it was decided.
 * @returns the answer to give instead, or null when the request is fine.
 */
export async function metricsRefusal(services: Services, headers: Headers): Promise<Response | null> {
  const { METRICS_TOKEN, METRICS_NETWORKS } = env()
  // One address, which `nameClients` has put there: what a client says of itself is gone.
  if (isWithin(headers.get('x-forwarded-for') ?? '', METRICS_NETWORKS ?? [])) return null
  const authorization = headers.get('authorization')
  if (METRICS_TOKEN && same(authorization ?? '', `Bearer ${METRICS_TOKEN}`)) return null
  if (await keyHolder(services, authorization)) return null
  return Response.json(
    {
      error: {
        message:
          'Metrics take METRICS_TOKEN or an API key as bearer token, or an address of METRICS_NETWORKS.',
      },
    },
    { status: 401, headers: { 'www-authenticate': 'Bearer' } },
  )
}

/** Compared as hashes, so that the time it takes tells nothing of either. */
function same(given: string, expected: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(given), hash(expected))
}
