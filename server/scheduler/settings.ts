import type { Services } from '../context'
import { pushHostDelays } from '../services/queue-hosts'
import { listQueues, pushSettings } from '../services/queues'

/** The record of pause, limits and hosts' delays is in the database; a Redis that was lost or restored gets its copy back within seconds. */
export async function repeatSettings(s: Services): Promise<void> {
  for (const row of await listQueues(s)) await pushSettings(s, row)
  await pushHostDelays(s)
}
