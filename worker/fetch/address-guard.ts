import { type ConnectorOptions, guardedConnector } from '../../core/address-guard'
import { type ProxyConnectorOptions, proxyConnector } from '../../core/proxy-connector'
import { FetchFailure } from './failure'

function privateAddress(host: string, address: string): FetchFailure {
  const where = host === address ? address : `${host} is at ${address}, which`
  return new FetchFailure(
    'private_address',
    `${where} is not a public address; allow private addresses for this spider if that is meant.`,
  )
}

/** The same through a proxy. */
export const proxiedConnector = (options: Omit<ProxyConnectorOptions, 'refuse'>) =>
  proxyConnector({ ...options, refuse: privateAddress })

/** Opens the sockets of a fetcher; with `allowPrivate` false, to globally routable addresses only. */
export const fetchConnector = (options: Omit<ConnectorOptions, 'refuse'>) =>
  guardedConnector({ ...options, refuse: privateAddress })
