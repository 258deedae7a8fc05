import { addressesKey, addressLineKey } from './keys'
import type { Queue } from './queue'

/**
 * Asks for the turn of an address for one of the hosts at it, over all workers; see lua/address-turn.lua.
 * @returns milliseconds to wait and ask again; 0 when it is the host's turn, which is then taken.
 */
export async function addressTurn(
  queue: Queue,
  address: string,
  host: string,
  delayMs: number,
): Promise<number> {
  return (await queue.script(
    'address-turn',
    [address, host, Math.round(delayMs)],
    [addressesKey(queue.name), addressLineKey(queue.name, address)],
  )) as number
}
