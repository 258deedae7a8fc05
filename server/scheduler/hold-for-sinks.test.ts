import { afterAll, beforeAll, expect, test } from 'vitest'
import { setEnv } from '../../core/env'
import { spiderSchema } from '../../core/spider'
import { openServerRig, type ServerRig } from '../../tests/server-rig'
import { drainQueue, ensureQueue, getQueue, pauseQueue, resumeQueue } from '../services/queues'
import { createRun } from '../services/runs'
import { holdForSinks } from './hold-for-sinks'

let rig: ServerRig
let other: string
beforeAll(async () => {
  rig = await openServerRig()
  other = `${rig.queue}-other`
  await ensureQueue(rig.services, other)
  setEnv({ SINK_WAITING_PAGES: '10' })
  const start = (queue: string, sinks: string[]) =>
    createRun(rig.services, {
      spider: rig.spider.id,
      definition: spiderSchema.parse({ name: 'rig', allowPrivate: true, ...(sinks.length > 0 && { sinks }) }),
      queue,
      seeds: [{ url: 'https://a.test/' }],
      trigger: 'manual',
    })
  await start(rig.queue, ['files', 'slow'])
  await start(other, ['files'])
  await start(other, [])
})
afterAll(() => rig.close())

let page = 0
async function wait(sink: string, pages: number, state = 'waiting'): Promise<void> {
  for (let n = 0; n < pages; n++)
    await rig.rows(
      `INSERT INTO sink_outbox (sink, run_id, url_hash, state, created_at) VALUES (?, 1, UNHEX(SHA2(${page++}, 256)), ?, UTC_TIMESTAMP(3))`,
      [sink, state],
    )
}
const look = () => holdForSinks(rig.services, () => true)
const stateOf = async (queue: string) => {
  const { paused, draining, heldBy } = await getQueue(rig.services, queue)
  // Redis is what claims obey.
  expect((await rig.services.queue(queue).lengths()).paused).toBe(paused)
  return { paused, draining, heldBy }
}
const OPEN = { paused: false, draining: false, heldBy: null }
const HELD = { paused: true, draining: false, heldBy: 'slow' }

test('a queue whose runs go to a sink with too much to take is paused until half of that is left, and no other queue is', async () => {
  await wait('slow', 9)
  // Gaps between ids are no pages.
  await wait('files', 9)
  await look()
  expect(await stateOf(rig.queue)).toEqual(OPEN)
  await wait('slow', 1)
  await look()
  expect(await stateOf(rig.queue)).toEqual(HELD)
  expect(await stateOf(other)).toEqual(OPEN)
  await rig.rows("DELETE FROM sink_outbox WHERE sink = 'slow' ORDER BY id LIMIT 5")
  await look()
  expect(await stateOf(rig.queue)).toEqual(HELD)
  await rig.rows("DELETE FROM sink_outbox WHERE sink = 'slow' ORDER BY id LIMIT 1")
  await look()
  expect(await stateOf(rig.queue)).toEqual(OPEN)
})

test('refused pages count; a person who resumes is overruled, one who pauses is not, and draining goes on afterwards', async () => {
  await wait('slow', 6, 'dead')
  await look()
  expect(await stateOf(rig.queue)).toEqual(HELD)
  await resumeQueue(rig.services, rig.queue, 'operator@example.com')
  await look()
  expect(await stateOf(rig.queue)).toEqual(HELD)
  await drainQueue(rig.services, rig.queue, 'operator@example.com')
  await look()
  expect(await stateOf(rig.queue)).toEqual({ ...HELD, draining: true })
  await rig.rows('DELETE FROM sink_outbox')
  await look()
  expect(await stateOf(rig.queue)).toEqual({ ...OPEN, draining: true })
  await pauseQueue(rig.services, rig.queue, 'operator@example.com')
  await look()
  expect(await stateOf(rig.queue)).toEqual({ ...OPEN, paused: true })
})
