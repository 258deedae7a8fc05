import { env } from '../../core/env'
import type { Services } from '../context'
import { listQueues } from '../services/queues'
import { oneByOne } from './one-by-one'
import { insertDead } from './record-dead'

const AT_ONCE = 500

/**
 * Takes back what vanished workers held. Needs no leader: the script decides and acts in one, on the state of that instant, so
 * any number of schedulers may do it at any time.
 */
export async function reap(s: Services, still: () => boolean): Promise<void> {
  await oneByOne(
    s,
    await listQueues(s),
    still,
    ({ name }) => ({ queue: name }),
    async ({ name }) => {
      while (still()) {
        const { returned, dead } = await s.queue(name).reap(AT_ONCE, env().MAX_DELIVERIES)
        for (const { run, url } of dead) await insertDead(s, run, [{ url, depth: 0 }])
        if (returned + dead.length > 0)
          s.log.warn(
            { queue: name, returned, dead: dead.map(({ url }) => url) },
            'took back pages whose worker vanished',
          )
        if (returned + dead.length < AT_ONCE) return
      }
    },
  )
}
