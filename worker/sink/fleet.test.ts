import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Database, openDatabase } from '../../drizzle/database'
import { freshDatabase } from '../../tests/services'
import { beat, registerWorker, retireWorker } from './fleet'

let site: { url: string; drop(): Promise<void> }
let database: Database
beforeAll(async () => {
  site = await freshDatabase()
  database = openDatabase(site.url, 1)
})
afterAll(async () => {
  await database.close()
  await site.drop()
})

const worker = (id: string) => ({ id, kind: 'http' as const, queue: 'q', hostname: 'h', pid: 1 })
const NOW = { running: 2, done: 9, failed: 1, rssBytes: 100 }
const read = async (id: string) => {
  const [rows] = await database.pool.query('SELECT state, running, done FROM workers WHERE id = ?', [id])
  return (rows as object[])[0]
}

test('a heartbeat that arrives after the stop leaves the worker stopped', async () => {
  await registerWorker(database.pool, worker('stopped'))
  await beat(database.pool, 'stopped', 'draining', NOW)
  expect(await read('stopped')).toEqual({ state: 'draining', running: 2, done: 9 })
  await retireWorker(database.pool, worker('stopped'))
  await beat(database.pool, 'stopped', 'draining', NOW)
  expect(await read('stopped')).toEqual({ state: 'stopped', running: 0, done: 9 })
})

test('a worker that was taken for lost and speaks again is running', async () => {
  await registerWorker(database.pool, worker('silent'))
  await database.pool.query("UPDATE workers SET state = 'lost', running = 0 WHERE id = 'silent'")
  await beat(database.pool, 'silent', 'running', NOW)
  expect(await read('silent')).toEqual({ state: 'running', running: 2, done: 9 })
})
