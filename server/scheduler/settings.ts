import type { Services } from '../context'
import { pushHostDelays } from '../services/queue-hosts'
import { listQueues, pushSettings } from '../services/queues'
import { oneByOne } from './one-by-one'

/** The record of pause, limits and hosts' delays is in the database; a Redis that was lost or restored gets its copy back within seconds. */
export async function repeatSettings(s: Services, still: () => boolean): Promise<void> {
  await oneByOne(
    s,
    await listQueues(s),
    still,
    ({ name }) => ({ queue: name }),
    async (row) => {
      await pushSettings(s, row)
      await pushHostDelays(s, row.name)
    },
  )
}
