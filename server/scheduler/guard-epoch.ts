import { sentence } from '../../core/errors'
import type { Services } from '../context'
import { settleEpoch } from '../services/epoch'
import { listQueues, pushSettings } from '../services/queues'
import { oneByOne } from './one-by-one'
import { rebuildRuns } from './rebuild-runs'

/**
 * Notices that Redis may have gone back in time. What it acknowledged last may be gone, so the epoch rises, which makes every
 * token given before worthless, and unfinished runs are rebuilt from the record.
 */
export async function guardEpoch(s: Services, still: () => boolean): Promise<void> {
  const { epoch, began } = await settleEpoch(s)
  if (began) {
    s.log.warn(
      { epoch },
      'Redis was restarted, replaced or emptied; a new epoch begins and unfinished runs are rebuilt from the record',
    )
    await rewriteAof(s)
  }
  await oneByOne(
    s,
    await listQueues(s),
    still,
    ({ name }) => ({ queue: name }),
    async (queue) => {
      // Pause and limits are back before there is anything to claim.
      if (began) await pushSettings(s, queue)
      await s.queue(queue.name).setEpoch(epoch)
    },
  )
  await rebuildRuns(s, epoch, still)
}

/**
 * An append-only file that was cut inside a transaction is loaded without it, but keeps the torn beginning; after the next
 * restart that beginning would be applied together with later writes. Writing the file anew removes it.
 */
async function rewriteAof(s: Services): Promise<void> {
  try {
    await s.redis.bgrewriteaof()
  } catch (error) {
    // One is under way already, or a managed server does not allow it.
    s.log.info({ cause: sentence(error) }, 'the append-only file is not rewritten now')
  }
}
