import { afterAll, beforeAll, expect, test } from 'vitest'
import { openServerRig, type ServerRig } from '../../tests/server-rig'
import { watchWorkers } from '../scheduler/watch-workers'
import { recordWorkerEnd } from './worker-end'

let rig: ServerRig
beforeAll(async () => {
  rig = await openServerRig()
})
afterAll(() => rig.close())

/** A worker on record that started, and spoke last, so many seconds ago. */
const began = (id: string, hostname: string, pid: number, seconds: number) =>
  rig.rows(
    "INSERT INTO workers (id, kind, queue, hostname, pid, state, started_at, heartbeat_at) VALUES (?, 'http', ?, ?, ?, 'running', UTC_TIMESTAMP(3) - INTERVAL ? SECOND, UTC_TIMESTAMP(3) - INTERVAL ? SECOND)",
    [id, rig.queue, hostname, pid, seconds, seconds],
  )
const ended = (name: string, hostname: string, at: number, more: { pid?: number; detail?: string } = {}) =>
  recordWorkerEnd(rig.services, {
    name,
    hostname,
    at,
    queue: rig.queue,
    kind: 'restart',
    detail: 'exit code 1',
    ...more,
  })
const events = (id: string) => rig.rows('SELECT kind, detail FROM worker_events WHERE worker_id = ?', [id])
const state = async (id: string) =>
  (await rig.rows<{ state: string }>('SELECT state FROM workers WHERE id = ?', [id]))[0]!.state

test('an end that was seen is one event, although the worker is silent from then on', async () => {
  await began('first', 'box', 1, 3600)
  await ended('worker-1', 'box', Date.now())
  await watchWorkers(rig.services)
  expect(await events('first')).toEqual([{ kind: 'restart', detail: 'exit code 1' }])
  expect(await state('first')).toBe('lost')
})

test('what runs again in the same container, or beside it on the same machine, goes on counting as running', async () => {
  await began('old', 'again', 1, 60)
  await began('new', 'again', 1, 2)
  await began('beside', 'again', 2, 60)
  await ended('worker-2', 'again', Date.now() - 30_000, { pid: 1 })
  expect([await state('old'), await state('new'), await state('beside')]).toEqual([
    'lost',
    'running',
    'running',
  ])
  // Its end was told before, by its silence: the one that runs now is not meant.
  await ended('worker-2', 'again', Date.now() - 30_000, { pid: 1 })
  expect(await state('new')).toBe('running')
  expect(await events('worker-2')).toHaveLength(1)
})

test('an end before the worker was on record stands under its name, and long last words are cut', async () => {
  await ended('worker-3', 'elsewhere', Date.now(), { detail: '内'.repeat(2000) })
  expect(await events('worker-3')).toEqual([{ kind: 'restart', detail: '内'.repeat(500) }])
})
