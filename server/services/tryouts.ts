import { setTimeout as sleep } from 'node:timers/promises'
import { UserError } from '../../core/errors'
import { type KeptHead, type TryoutState, Tryouts } from '../../core/queue/tryouts'
import { checkSpider } from '../../core/spider-check'
import { webUrl } from '../../core/url'
import type { Services } from '../context'
import { select } from '../db'
import { recordChange } from './audit-log'
import { listSpiders } from './spiders'

/** Who asks: an id for what may be read, an address for the record. */
export interface Asker {
  id: string
  email: string
}

/** How long an answer to "read it again" is waited for; the worker itself takes a second or two at most. */
const READ_MS = 8_000
const LOOK_MS = 40

/**
 * Asks a worker of the queue to fetch a URL as the spider would. The console itself never fetches anything.
 * @param definition a spider, saved or not.
 * @returns the trial's id, for `readTryout` by the same person.
 * @throws UserError for a URL or spider that cannot be used, a queue that no worker serves, or too many trials at a time.
 */
export async function askTryout(
  s: Services,
  { queue, url, definition }: { queue: string; url: string; definition: unknown },
  asker: Asker,
): Promise<{ id: string; url: string }> {
  const address = webUrl(url.trim())
  const spider = checkSpider(definition)
  await requireWorker(s, queue)
  const saved = (await listSpiders(s)).find(({ name }) => name === spider.name)
  const id = await tryoutsOf(s, queue).ask(asker.id, {
    ...{ kind: 'fetch', url: address, definition: spider },
    ...(saved && { spider: saved.id }),
  })
  await recordChange(s.database.pool, asker.email, 'tryout.fetch', address, { queue, spider: spider.name })
  return { id, url: address }
}

/** How far a trial is. */
export const readTryout = (
  s: Services,
  at: { queue: string; id: string },
  asker: Asker,
): Promise<TryoutState> => tryoutsOf(s, at.queue).read(at.id, asker.id)

/**
 * Has a worker read the page of a trial again, as another spider would; nothing is fetched. The page is hostile, so the
 * console does not read it itself.
 * @returns what the worker says; `waiting` when none took it within seconds.
 * @throws UserError as `askTryout`, and for a trial that is not there or not the asker's.
 */
export async function readAgain(
  s: Services,
  { queue, id, definition }: { queue: string; id: string; definition: unknown },
  asker: Asker,
): Promise<TryoutState> {
  const spider = checkSpider(definition)
  const tryouts = tryoutsOf(s, queue)
  await requireOwn(tryouts, id, asker)
  await requireWorker(s, queue)
  const reading = await tryouts.ask(asker.id, { kind: 'read', of: id, definition: spider })
  const until = performance.now() + READ_MS
  try {
    for (;;) {
      const found = await tryouts.read(reading, asker.id)
      if ((found.state !== 'waiting' && found.state !== 'running') || performance.now() > until) return found
      await sleep(LOOK_MS)
    }
  } finally {
    await tryouts.forget(reading)
  }
}

/** The page of a trial as it came. @throws UserError for a trial that is not there, not the asker's, or kept no page. */
export async function tryoutPage(
  s: Services,
  { queue, id }: { queue: string; id: string },
  asker: Asker,
): Promise<{ head: KeptHead; body: Buffer }> {
  const tryouts = tryoutsOf(s, queue)
  await requireOwn(tryouts, id, asker)
  const page = await tryouts.page(id)
  if (!page) throw unknown()
  return page
}

const tryoutsOf = (s: Services, queue: string) => new Tryouts(s.redis, queue)

async function requireOwn(tryouts: Tryouts, id: string, asker: Asker): Promise<void> {
  if (!(await tryouts.owns(id, asker.id))) throw unknown()
}

const unknown = () =>
  new UserError('This trial is there no longer; pages are kept for ten minutes. Fetch it again.', {
    code: 'tryout_unknown',
  })

/** Without one the request would only lie there. */
async function requireWorker(s: Services, queue: string): Promise<void> {
  const [row] = await select<{ n: number }>(
    s.database.pool,
    "SELECT COUNT(*) AS n FROM workers WHERE queue = ? AND state = 'running'",
    [queue],
  )
  if (row!.n === 0)
    throw new UserError(
      `No worker serves the queue "${queue}", so nothing can be fetched. Ask for one under Workers, or choose another queue.`,
      { code: 'tryout_no_worker', values: { queue } },
    )
}
