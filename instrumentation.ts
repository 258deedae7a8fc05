import { nameClients } from './server/client-address'

/** Next calls this once, before its server takes requests, and demands that this file stand here. */
export function register(): void {
  nameClients()
}
