import { type ConnectorOptions, guardedConnector } from '../../core/address-guard'
import { FetchFailure } from './failure'

function privateAddress(host: string, address: string): FetchFailure {
  const where = host === address ? address : `${host} is at ${address}, which`
  return new FetchFailure(
    'private_address',
    `${where} is not a public address; allow private addresses for this spider if that is meant.`,
  )
}

/** Opens the sockets of a fetcher; with `allowPrivate` false, to globally routable addresses only. */
export const fetchConnector = (options: Omit<ConnectorOptions, 'refuse'>) =>
  guardedConnector({ ...options, refuse: privateAddress })
