import type { Services } from '../context'
import { listQueues, pushSettings } from '../services/queues'

/** The record of pause and limits is in the database; a Redis that was lost or restored gets its copy back within seconds. */
export async function repeatSettings(s: Services): Promise<void> {
  for (const row of await listQueues(s)) await pushSettings(s, row)
}
